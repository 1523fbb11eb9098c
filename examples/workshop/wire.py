"""A session in the three wire formats, and JSON with one message per line."""
import json
from typing import Any, Dict, List

from .dice import identifier, seal
from .session import Assistant, Call, Session, Turn

Body = Dict[str, Any]

ANTHROPIC_MODEL = "claude-sonnet-4-5"
OPENAI_MODEL = "gpt-5.1"
_CACHED = {"cache_control": {"type": "ephemeral"}}


def anthropic(session: Session) -> Body:
    messages: List[Body] = []

    def add(role: str, blocks: List[Body]) -> None:
        """Results and a user's text that follow each other share one message, as the API wants it."""
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"].extend(blocks)
        else:
            messages.append({"role": role, "content": blocks})

    for turn in session.turns:
        if isinstance(turn, Assistant):
            add("assistant", anthropic_reply(turn))
            if turn.calls:
                add("user", [anthropic_result(call) for call in turn.calls])
        else:
            add("user", [{"type": "text", "text": turn.text}])
    messages[-1]["content"][-1].update(_CACHED)
    system = [{"type": "text", "text": text} for text in session.system]
    for block in system[-2:]:
        block.update(_CACHED)
    return {
        "model": ANTHROPIC_MODEL,
        "max_tokens": 16000,
        "stream": True,
        "thinking": {"type": "enabled", "budget_tokens": 8000},
        "system": system,
        "tools": [{"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
                  for tool in session.tools],
        "messages": messages,
    }


def anthropic_reply(turn: Assistant) -> List[Body]:
    blocks: List[Body] = []
    if turn.thinking:
        blocks.append({"type": "thinking", "thinking": turn.thinking, "signature": seal(turn.thinking)})
    if turn.text:
        blocks.append({"type": "text", "text": turn.text})
    return blocks + [
        {"type": "tool_use", "id": f"toolu_01{call.id}", "name": call.tool, "input": call.arguments} for call in turn.calls
    ]


def anthropic_result(call: Call) -> Body:
    block = {"type": "tool_result", "tool_use_id": f"toolu_01{call.id}", "content": call.result}
    return {**block, "is_error": True} if call.failed else block


def openai_chat(session: Session) -> Body:
    messages: List[Body] = [{"role": "system", "content": "\n\n".join(session.system)}]
    for turn in session.turns:
        if not isinstance(turn, Assistant):
            messages.append({"role": "user", "content": turn.text})
            continue
        reply: Body = {"role": "assistant", "content": turn.text or None}
        if turn.thinking:
            reply["reasoning_content"] = turn.thinking
        if turn.calls:
            reply["tool_calls"] = [
                {"id": f"call_{call.id}", "type": "function",
                 "function": {"name": call.tool, "arguments": json.dumps(call.arguments, ensure_ascii=False)}}
                for call in turn.calls
            ]
        messages.append(reply)
        messages += [{"role": "tool", "tool_call_id": f"call_{call.id}", "content": call.result} for call in turn.calls]
    return {
        "model": OPENAI_MODEL,
        "max_completion_tokens": 16000,
        "stream": True,
        "stream_options": {"include_usage": True},
        "parallel_tool_calls": True,
        "tools": [{"type": "function", "function": tool} for tool in session.tools],
        "messages": messages,
    }


def openai_responses(session: Session) -> Body:
    items: List[Body] = []
    for number, turn in enumerate(session.turns):
        items += response_items(f"{session.name}:{number}", turn)
    return {
        "model": OPENAI_MODEL,
        "max_output_tokens": 16000,
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "medium", "summary": "auto"},
        "parallel_tool_calls": True,
        "tools": [{"type": "function", **tool} for tool in session.tools],
        "instructions": "\n\n".join(session.system),
        "input": items,
    }


def response_items(seed: str, turn: Turn) -> List[Body]:
    if not isinstance(turn, Assistant):
        return [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": turn.text}]}]
    items: List[Body] = []
    if turn.thinking:
        items.append({"type": "reasoning", "id": identifier("rs_", seed, 40), "encrypted_content": seal(turn.thinking),
                      "summary": [{"type": "summary_text", "text": turn.thinking}]})
    if turn.text:
        items.append({"type": "message", "id": identifier("msg_", seed, 40), "role": "assistant", "status": "completed",
                      "content": [{"type": "output_text", "text": turn.text, "annotations": []}]})
    items += [{"type": "function_call", "id": identifier("fc_", call.id, 40), "call_id": f"call_{call.id}", "name": call.tool,
               "arguments": json.dumps(call.arguments, ensure_ascii=False), "status": "completed"} for call in turn.calls]
    return items + [
        {"type": "function_call_output", "call_id": f"call_{call.id}", "output": call.result} for call in turn.calls
    ]


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def rendered(body: Any) -> str:
    """JSON with one line per field, and one line per element of a list of objects."""
    if isinstance(body, list):
        return "[\n" + ",\n".join(compact(item) for item in body) + "\n]\n"
    fields = []
    for name, value in body.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            shown = "[\n" + ",\n".join(f"    {compact(item)}" for item in value) + "\n  ]"
        else:
            shown = compact(value)
        fields.append(f"  {compact(name)}: {shown}")
    return "{\n" + ",\n".join(fields) + "\n}\n"
