"""The short session as it looks after a crash, a lost connection and a client with bugs."""
import copy
from typing import List

from .session import Session
from .wire import Body, anthropic, openai_chat

_LOST = "Xq7LostWithTheCompact2"
"""A result whose call was cut away by an earlier, careless compaction."""
_STRAY = "row 41: station 'Nordnes' has 14 docks, feed says 12"


def damaged_anthropic(session: Session) -> Body:
    body = copy.deepcopy(anthropic(session))
    messages: List[Body] = body["messages"]
    with_calls = [n for n, message in enumerate(messages)
                  if any(block["type"] == "tool_use" for block in message["content"])]
    unanswered, last = with_calls[1], with_calls[-1]
    del messages[last + 1:]
    messages[unanswered + 1]["content"] = [{"type": "text", "text": "Sorry, my laptop went to sleep. Where were we?"}]
    messages[0]["content"].append({"type": "text", "text": ""})
    messages[with_calls[0]]["content"].insert(1, {"type": "text", "text": " \n"})
    orphan = {"type": "tool_result", "tool_use_id": f"toolu_01{_LOST}", "content": _STRAY}
    messages[with_calls[2] + 1]["content"].insert(0, orphan)
    double = next(n for n, message in enumerate(messages) if n > with_calls[2] and is_request(message))
    messages.insert(double, {"role": "user", "content": "wait, one more thing before you go on"})
    return body


def damaged_chat(session: Session) -> Body:
    body = copy.deepcopy(openai_chat(session))
    messages: List[Body] = body["messages"]
    with_calls = [n for n, message in enumerate(messages) if message.get("tool_calls")]
    del messages[with_calls[-1] + 1:]
    double = next(n for n, message in enumerate(messages) if n > with_calls[2] and message["role"] == "user")
    messages.insert(double, {"role": "user", "content": "wait, one more thing before you go on"})
    messages.insert(with_calls[2] + 1, {"role": "tool", "tool_call_id": f"call_{_LOST}", "content": _STRAY})
    count = len(messages[with_calls[1]]["tool_calls"])
    messages[with_calls[1] + 1:with_calls[1] + 1 + count] = [
        {"role": "user", "content": "Sorry, my laptop went to sleep. Where were we?"}]
    messages[1]["content"] = [{"type": "text", "text": messages[1]["content"]}, {"type": "text", "text": ""}]
    messages[with_calls[0]]["content"] = [{"type": "text", "text": " \n"}]
    return body


def is_request(message: Body) -> bool:
    return message["role"] == "user" and all(block["type"] == "text" for block in message["content"])
