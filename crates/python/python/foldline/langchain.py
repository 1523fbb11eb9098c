"""LangChain 1.x: a middleware that compacts what an agent sends to its model.

The agent's state keeps the whole history; each request is the history with earlier folds in it. Conversations are told
apart by their ``thread_id``.

    from langchain.agents import create_agent
    from foldline.langchain import FoldlineMiddleware

    agent = create_agent(model, tools, middleware=[FoldlineMiddleware(window=200_000)])
"""

from typing import Any, Awaitable, Callable, Dict, List, Tuple

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import BaseMessage, convert_to_messages, convert_to_openai_messages
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool

from ._host import RECALL_TOOL, Sessions, recall_function
from ._session import Compaction, Session


class FoldlineMiddleware(AgentMiddleware):
    """Compacts requests to the model; options are those of :class:`foldline.Session`."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self._sessions = Sessions(**{"recall_tool": RECALL_TOOL, "format": "openai-chat", **options})

        @tool(RECALL_TOOL)
        def recall(
            handle: str, config: RunnableConfig, turn: str = "", lines: str = "", grep: str = "", page: int = 1
        ) -> str:
            """Reads text that was removed from this conversation, by its handle (like fl-3f9a0c51d2e7). turn: 12 or
            12:20. lines: 120:180, within a turn. grep: a regular expression. page: which page."""
            return recall_function(lambda: self._of(config))(handle, turn, lines, grep, page)

        self.tools = [recall]

    def session(self, thread_id: str = "") -> Session:
        """The session of a thread."""
        return self._sessions.of(thread_id)

    def wrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]
    ) -> ModelResponse:
        objects, body = _body(request)
        done = self._of(_config()).compact(body)
        return handler(_replaced(request, objects, done))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        objects, body = _body(request)
        done = await self._of(_config()).acompact(body)
        return await handler(_replaced(request, objects, done))

    def _of(self, config: RunnableConfig) -> Session:
        return self.session(str((config or {}).get("configurable", {}).get("thread_id", "")))


def _config() -> RunnableConfig:
    from langgraph.config import get_config

    try:
        return get_config()
    except RuntimeError:  # Outside of a graph there is one conversation.
        return {}


def _body(request: ModelRequest) -> Tuple[List[BaseMessage], Dict[str, Any]]:
    """The request in OpenAI's form, and the message that each of its messages stands for."""
    given = [request.system_message] if request.system_message else []
    objects: List[BaseMessage] = []
    messages: List[Dict[str, Any]] = []
    for message in [*given, *request.messages]:
        written = convert_to_openai_messages([message])
        # One that holds several results is several messages there.
        objects += [message] if len(written) == 1 else convert_to_messages(written)
        messages += written
    body: Dict[str, Any] = {"messages": messages, "tools": [convert_to_openai_tool(each) for each in request.tools]}
    name = getattr(request.model, "model_name", None) or getattr(request.model, "model", None)
    if isinstance(name, str):
        body["model"] = name
    return objects, body


def _replaced(request: ModelRequest, objects: List[BaseMessage], done: Compaction) -> ModelRequest:
    if not done.changed:
        return request
    messages = done.rebuild(objects, done.body["messages"], lambda message: convert_to_messages([message])[0])
    return request.override(messages=messages[1:] if request.system_message else messages)
