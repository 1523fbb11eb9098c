"""Sessions in the form in which clients keep them: Claude Code's session file, a ShareGPT trajectory."""
import json
from datetime import datetime, timedelta
from typing import Any, Dict, List, Optional

from .dice import Dice, identifier, uuid_like
from .session import Assistant, Call, Session
from .wire import ANTHROPIC_MODEL, anthropic_reply, compact

Line = Dict[str, Any]
_CWD = "/home/olav/src/quillpress"
_START = datetime(2025, 9, 16, 7, 41, 3)


class ClaudeCode:
    """Writes the lines: one per content block of a reply, one per tool result, each pointing to the one before."""

    def __init__(self, session: Session):
        self.session = session
        self.session_id = uuid_like(session.name)
        self.dice = Dice(f"claude-code:{session.name}")
        self.now = _START
        self.lines: List[Line] = []
        self.parent: Optional[str] = None
        self.context = 14200

    def stamp(self, seconds: int) -> str:
        self.now += timedelta(seconds=seconds, milliseconds=self.dice.below(1000))
        return self.now.isoformat(timespec="milliseconds") + "Z"

    def add(self, kind: str, seconds: int, **fields: Any) -> None:
        own = uuid_like(f"{self.session_id}:{len(self.lines)}")
        self.lines.append({
            "parentUuid": self.parent, "isSidechain": False, "userType": "external", "cwd": _CWD,
            "sessionId": self.session_id, "version": "2.1.197", "gitBranch": "main", "type": kind, **fields,
            "uuid": own, "timestamp": self.stamp(seconds),
        })
        self.parent = own

    def write(self) -> List[Line]:
        self.lines.append({"type": "summary", "summary": "Quillpress: feed and page templates",
                           "leafUuid": uuid_like("an earlier session")})
        for number, turn in enumerate(self.session.turns):
            if isinstance(turn, Assistant):
                self.reply(number, turn)
            else:
                self.snapshot(number)
                self.add("user", 20, message={"role": "user", "content": turn.text})
        return self.lines

    def snapshot(self, number: int) -> None:
        message = uuid_like(f"{self.session_id}:{len(self.lines) + 1}")
        self.lines.append({
            "type": "file-history-snapshot", "messageId": message, "isSnapshotUpdate": False,
            "snapshot": {"messageId": message, "trackedFileBackups": {}, "timestamp": self.stamp(0)},
        })

    def reply(self, number: int, turn: Assistant) -> None:
        message_id = identifier("msg_01", f"{self.session_id}:{number}", 22)
        request_id = identifier("req_011", f"{self.session_id}:{number}", 20)
        blocks = anthropic_reply(turn)
        written = len(compact(blocks)) // 4
        usage = {"input_tokens": 4, "cache_creation_input_tokens": self.dice.between(300, 1900),
                 "cache_read_input_tokens": self.context, "output_tokens": written, "service_tier": "standard"}
        self.context += usage["cache_creation_input_tokens"]
        for block in blocks:
            message = {"model": ANTHROPIC_MODEL, "id": message_id, "type": "message", "role": "assistant",
                       "content": [block], "stop_reason": "tool_use" if turn.calls else "end_turn", "stop_sequence": None,
                       "usage": usage}
            self.add("assistant", 2, message=message, requestId=request_id)
        for call in turn.calls:
            self.result(call)
        if not turn.calls:
            self.add("system", 0, subtype="turn_duration", durationMs=self.dice.between(9000, 64000), isMeta=False)

    def result(self, call: Call) -> None:
        block = {"tool_use_id": f"toolu_01{call.id}", "type": "tool_result", "content": call.result}
        if call.failed:
            block["is_error"] = True
        self.add("user", 1, message={"role": "user", "content": [block]}, toolUseResult=tool_use_result(call))


def tool_use_result(call: Call) -> Any:
    """What the client keeps for itself beside the block that the model sees."""
    arguments = call.arguments
    if call.failed:
        return f"Error: {call.result}"
    if call.tool == "Bash":
        return {"stdout": call.result, "stderr": "", "interrupted": False, "isImage": False}
    if call.tool == "Read":
        content = "\n".join(line.split("→", 1)[1] for line in call.result.splitlines())
        count = len(call.result.splitlines())
        return {"type": "text", "file": {"filePath": arguments["file_path"], "content": content, "numLines": count,
                                         "startLine": 1, "totalLines": count}}
    if call.tool == "Edit":
        return {"filePath": arguments["file_path"], "oldString": arguments["old_string"],
                "newString": arguments["new_string"], "userModified": False, "replaceAll": False}
    if call.tool == "Write":
        return {"type": "create", "filePath": arguments["file_path"], "content": arguments["content"], "structuredPatch": []}
    if call.tool == "TodoWrite":
        return {"oldTodos": [], "newTodos": arguments["todos"]}
    lines = call.result.splitlines()
    return {"mode": arguments["output_mode"], "numFiles": len(lines), "filenames": [], "content": call.result,
            "numLines": len(lines)}


def claude_code(session: Session) -> str:
    return "".join(compact(line) + "\n" for line in ClaudeCode(session).write())


def sharegpt(session: Session) -> Line:
    tools = "\n".join(compact({"type": "function", "function": tool}) for tool in session.tools)
    turns = [{"from": "system", "value": session.system[0] + f"\n\n<tools>\n{tools}\n</tools>"}]
    for turn in session.turns:
        if not isinstance(turn, Assistant):
            turns.append({"from": "human", "value": turn.text})
            continue
        parts = [f"<think>\n{turn.thinking}\n</think>"] if turn.thinking else []
        parts += [turn.text] if turn.text else []
        parts += [f"<tool_call>\n{compact({'name': call.tool, 'arguments': call.arguments})}\n</tool_call>" for call in turn.calls]
        turns.append({"from": "gpt", "value": "\n".join(parts)})
        if turn.calls:
            answers = [compact({"tool_call_id": f"call_{call.id}", "name": call.tool, "content": call.result}) for call in turn.calls]
            turns.append({"from": "tool", "value": "\n".join(f"<tool_response>\n{answer}\n</tool_response>" for answer in answers)})
    return {"id": "bus-delays", "model": "example-model", "completed": True, "conversations": turns}
