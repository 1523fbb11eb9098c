"""A conversation that grows: what the tests of all adapters work with."""

import re

#: The name by which a handoff or a shortened output can be read again.
HANDLE = re.compile(r"fl-[0-9a-f]{12}")

TASK = "Find out why the import of orders is slow. Never touch the archive."


def log(part: int) -> str:
    return "".join(f"part {part} row {row}: wrote order {part * 60 + row} in {row % 7} ms\n" for row in range(60))


def chat(calls: int) -> list:
    """Messages of Chat Completions."""
    messages = [{"role": "system", "content": "You look for slow imports."}, {"role": "user", "content": TASK}]
    for part in range(calls):
        function = {"name": "read_log", "arguments": '{"part": %d}' % part}
        messages.append(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"call_{part}", "type": "function", "function": function}],
            }
        )
        messages.append({"role": "tool", "tool_call_id": f"call_{part}", "content": log(part)})
    return messages
