"""Pydantic AI: a history processor that compacts what an agent sends to its model.

One processor is one conversation. What it returns becomes the history of the run.

    from pydantic_ai import Agent
    from pydantic_ai.capabilities import ProcessHistory
    from foldline.pydantic_ai import HistoryCompactor

    fold = HistoryCompactor(window=200_000)
    agent = Agent(model, tools=[*tools, fold.recall_tool], capabilities=[ProcessHistory(fold.process)])
"""

from dataclasses import replace
from typing import Any, Callable, Dict, List, Optional

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from ._host import RECALL_TOOL, recall_function
from ._session import Session

#: A part that no wire format knows: the engine leaves it alone, and it comes back as it was.
_OPAQUE = "pydantic_ai_part"


class HistoryCompactor:
    """Compacts the history before each request; options are those of :class:`foldline.Session`."""

    def __init__(self, **options: Any) -> None:
        self.session = Session(**{"recall_tool": RECALL_TOOL, "format": "anthropic", **options})
        #: For the agent's ``tools``: reads what was removed.
        self.recall_tool: Callable[..., str] = recall_function(lambda: self.session)

    async def process(self, messages: List[ModelMessage]) -> List[ModelMessage]:
        """The history, compacted if it is time to."""
        parts = _Parts()
        written = [parts.written(message) for message in messages]
        body = {"system": parts.system, "messages": written} if parts.system else {"messages": written}
        done = await self.session.acompact(body)
        return done.rebuild(messages, done.body["messages"], parts.read)


class _Parts:
    """Messages in Anthropic's form, whose blocks are as fine as the parts here, and back."""

    def __init__(self) -> None:
        self.system = ""
        self._opaque: Dict[str, Any] = {}
        self._calls: Dict[str, ToolCallPart] = {}
        self._returns: Dict[str, Any] = {}

    def written(self, message: ModelMessage) -> Dict[str, Any]:
        role = "user" if isinstance(message, ModelRequest) else "assistant"
        return {"role": role, "content": [self._block(part) for part in message.parts]}

    def _block(self, part: Any) -> Dict[str, Any]:
        if isinstance(part, TextPart) and part.content:
            return {"type": "text", "text": part.content}
        if isinstance(part, UserPromptPart) and isinstance(part.content, str):
            return {"type": "text", "text": part.content}
        if isinstance(part, ToolCallPart):
            self._calls[part.tool_call_id] = part
            return {"type": "tool_use", "id": part.tool_call_id, "name": part.tool_name, "input": part.args_as_dict()}
        if isinstance(part, (ToolReturnPart, RetryPromptPart)) and part.tool_name is not None:
            is_retry = isinstance(part, RetryPromptPart)
            words = part.model_response() if is_retry else part.model_response_str()
            self._returns[part.tool_call_id] = (part, words)
            block = {"type": "tool_result", "tool_use_id": part.tool_call_id, "content": words}
            return {**block, "is_error": True} if is_retry else block
        if isinstance(part, SystemPromptPart):
            self.system += part.content
        key = str(len(self._opaque))
        self._opaque[key] = part
        return {"type": _OPAQUE, "id": key}

    def read(self, message: Dict[str, Any]) -> ModelMessage:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        is_user = message["role"] == "user"
        parts = [part for part in (self._part(block, is_user) for block in blocks) if part is not None]
        return ModelRequest(parts=parts) if is_user else ModelResponse(parts=parts)

    def _part(self, block: Dict[str, Any], is_user: bool) -> Optional[Any]:
        kind = block["type"]
        if kind == "text":
            return UserPromptPart(block["text"]) if is_user else TextPart(block["text"])
        if kind == "tool_use":
            call = self._calls.get(block["id"])
            if call is None:
                return ToolCallPart(block["name"], block["input"], block["id"])
            return call if call.args_as_dict() == block["input"] else replace(call, args=block["input"])
        if kind == "tool_result":
            words = _text(block.get("content", ""))
            answered, said = self._returns.get(block["tool_use_id"], (None, None))
            if answered is None:
                return ToolReturnPart("", words, block["tool_use_id"])
            return answered if words == said else replace(answered, content=words)
        return self._opaque.get(block.get("id", ""))


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(block.get("text", "") for block in content)
