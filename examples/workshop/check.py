"""Verifies the examples: counts, pairs, roles, and that the files on disk are what the generator makes."""
import base64
import json
from collections import Counter
from pathlib import Path
from typing import Any, Dict, List

from .catalog import files

EXPECTED_CALLS = {"file_read": 24, "shell_exec": 31, "python_exec": 28}
LARGEST = 800_000
Body = Dict[str, Any]


def blocks(message: Body) -> List[Body]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def anthropic_faults(messages: List[Body]) -> List[str]:
    faults, pending = [], []
    if messages[0]["role"] != "user":
        faults.append("starts with another role than user")
    for index, message in enumerate(messages):
        if index and messages[index - 1]["role"] == message["role"]:
            faults.append(f"{index}: two {message['role']} messages in a row")
        results = [block["tool_use_id"] for block in blocks(message) if block["type"] == "tool_result"]
        if sorted(results) != sorted(pending):
            faults.append(f"{index}: expected results {pending}, found {results}")
        pending = [block["id"] for block in blocks(message) if block["type"] == "tool_use"]
        faults += [f"{index}: blank text" for block in blocks(message) if block["type"] == "text" and not block["text"].strip()]
    return faults + ([f"end: unanswered {pending}"] if pending else [])


def chat_faults(messages: List[Body]) -> List[str]:
    faults, pending, previous = [], [], ""
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in pending:
                faults.append(f"{index}: orphan result {message['tool_call_id']}")
            else:
                pending.remove(message["tool_call_id"])
        else:
            if pending:
                faults.append(f"{index}: unanswered {pending}")
            if message["role"] == previous:
                faults.append(f"{index}: two {previous} messages in a row")
            pending = [call["id"] for call in message.get("tool_calls", [])]
            for call in message.get("tool_calls", []):
                json.loads(call["function"]["arguments"])
            if isinstance(message["content"], list):
                faults += [f"{index}: blank text" for part in message["content"] if not part.get("text", "x").strip()]
        previous = message["role"]
    return faults + ([f"end: unanswered {pending}"] if pending else [])


def response_faults(items: List[Body]) -> List[str]:
    open_calls: List[str] = []
    faults = []
    for index, item in enumerate(items):
        if item["type"] == "function_call":
            json.loads(item["arguments"])
            open_calls.append(item["call_id"])
        elif item["type"] == "function_call_output":
            if item["call_id"] not in open_calls:
                faults.append(f"{index}: orphan output {item['call_id']}")
            else:
                open_calls.remove(item["call_id"])
        elif open_calls:
            faults.append(f"{index}: unanswered {open_calls}")
    return faults + ([f"end: unanswered {open_calls}"] if open_calls else [])


def call_counts(name: str, body: Body) -> Counter:
    if "input" in body:
        return Counter(item["name"] for item in body["input"] if item["type"] == "function_call")
    if name.endswith("openai-chat.json"):
        return Counter(call["function"]["name"] for message in body["messages"] for call in message.get("tool_calls", []))
    return Counter(block["name"] for message in body["messages"] for block in blocks(message) if block["type"] == "tool_use")


def claude_code_faults(text: str) -> List[str]:
    faults, previous, calls, results = [], None, [], []
    for number, line in enumerate(map(json.loads, text.splitlines()), start=1):
        if "uuid" not in line:
            continue
        if line["parentUuid"] != previous:
            faults.append(f"line {number}: chain broken")
        previous = line["uuid"]
        for block in blocks(line["message"]) if "message" in line else []:
            calls += [block["id"]] if block["type"] == "tool_use" else []
            results += [block["tool_use_id"]] if block["type"] == "tool_result" else []
    return faults + ([] if calls == results else ["calls and results differ"])


def sharegpt_faults(turns: List[Body]) -> List[str]:
    faults = []
    for index, turn in enumerate(turns):
        asked = turn["value"].count("<tool_call>") if turn["from"] == "gpt" else 0
        follower = turns[index + 1] if index + 1 < len(turns) else {"from": "", "value": ""}
        answered = follower["value"].count("<tool_response>") if follower["from"] == "tool" else 0
        if asked != answered:
            faults.append(f"{index}: {asked} calls, {answered} responses")
    return faults


def faults_of(name: str, text: str) -> List[str]:
    if name.endswith(".jsonl"):
        return claude_code_faults(text)
    body = json.loads(text)
    if "conversations" in body:
        return sharegpt_faults(body["conversations"])
    if "input" in body:
        return response_faults(body["input"])
    return (chat_faults if name.endswith("openai-chat.json") else anthropic_faults)(body["messages"])


def picture_faults(text: str) -> List[str]:
    found = text.count("iVBORw0KGgo")
    start = text.index("iVBORw0KGgo")
    whole = base64.b64decode(text[start:text.index('"', start)])
    return [] if found == 4 and whole.endswith(b"IEND\xaeB`\x82") else [f"expected 4 PNG files, found {found}"]


def problems(folder: Path) -> List[str]:
    """All that is wrong with the examples in a folder; nothing if all is well."""
    found: List[str] = []
    for name, text in files().items():
        path = folder / name
        if not path.exists() or path.read_bytes() != text.encode("utf-8"):
            found.append(f"{name}: not up to date, run generate.py")
        if len(text.encode("utf-8")) > LARGEST:
            found.append(f"{name}: larger than {LARGEST} bytes")
        if name == "README.md":
            continue
        faults = faults_of(name, text)
        if name.startswith("damaged"):
            found += [] if len(faults) >= 5 else [f"{name}: expected damage, found {faults}"]
        else:
            found += [f"{name}: {fault}" for fault in faults]
        if name.startswith("two-hour") and call_counts(name, json.loads(text)) != EXPECTED_CALLS:
            found.append(f"{name}: calls {dict(call_counts(name, json.loads(text)))}")
        if name.startswith("images"):
            found += [f"{name}: {fault}" for fault in picture_faults(text)]
    return found
