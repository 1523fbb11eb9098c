"""context-governor: its command line, one process per call. It knows roles and texts only; what else a message has travels as metadata
and is put back afterwards, as its adapters for hosts do."""
import json
import os
import subprocess

from driver import Peer, serve

BINARY = os.environ["VERSUS_PEER_BINARY"]


class ContextGovernor(Peer):
    version = os.environ.get("VERSUS_PEER_VERSION", "?")
    works_in_children = True

    def compress(self, messages, target, window):
        policy = {"target_tokens": target, "protect_first_n": 3, "protect_last_n": 8, "summary_max_chars": 8000,
                  "allocator": "deterministic_v1", "budget_mode": "hard_cascade"}
        request = {"session_id": "versus", "policy": policy, "messages": [plain(message) for message in messages]}
        done = subprocess.run([BINARY, "compact"], input=json.dumps(request), capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip()[-300:])
        return paired([restored(message) for message in json.loads(done.stdout)["compacted_messages"]])


def plain(message):
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = "\n".join(part.get("text", "[image]") for part in content)
    calls = message.get("tool_calls") or []
    content = "\n".join([content] * bool(content) + [f"{call['function']['name']} {call['function']['arguments']}" for call in calls])
    rest = {key: value for key, value in message.items() if key not in ("role", "content")}
    return {"role": message["role"], "content": content, "metadata": {"rest": rest, "said": message.get("content")} if rest else {}}


def restored(message):
    metadata = message.get("metadata") or {}
    if "rest" in metadata:
        return {"role": message["role"], "content": metadata["said"] if metadata["rest"].get("tool_calls") else message["content"], **metadata["rest"]}
    return {"role": message["role"], "content": message["content"]}


def paired(messages):
    """Drops results without their call and calls without all their results."""
    answered = {message.get("tool_call_id") for message in messages if message["role"] == "tool"}
    kept, open_calls = [], set()
    for message in messages:
        calls = {call["id"] for call in message.get("tool_calls") or []}
        if calls and not calls <= answered:
            message = {"role": "assistant", "content": plain(message)["content"]}
            calls = set()
        if message["role"] == "tool" and message.get("tool_call_id") not in open_calls:
            continue
        open_calls |= calls
        kept.append(message)
    return kept


serve(ContextGovernor)
