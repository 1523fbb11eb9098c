"""A short session with screenshots: tiny PNG files drawn here, one of them inside a tool result."""
import base64
import json
import struct
import zlib
from typing import Any, Dict, List, Tuple

from .dice import identifier, seal
from .wire import ANTHROPIC_MODEL, OPENAI_MODEL

Body = Dict[str, Any]
Box = Tuple[int, int, int, int, int]
_PALETTE = bytes([250, 250, 248, 34, 60, 80, 210, 70, 50, 90, 160, 110, 190, 190, 190])
_WIDTH, _HEIGHT = 32, 20


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(boxes: List[Box]) -> str:
    """Rectangles (left, top, right, bottom, colour) on a blank page, as Base64.

    The pixels are stored and not compressed, because compressors differ between builds and the files must not.
    """
    rows = [bytearray(_WIDTH) for _ in range(_HEIGHT)]
    for left, top, right, bottom, colour in boxes:
        for y in range(top, bottom):
            for x in range(left, right):
                rows[y][x] = colour
    raw = b"".join(b"\0" + bytes(row) for row in rows)
    stored = b"\x78\x01\x01" + struct.pack("<HH", len(raw), len(raw) ^ 0xFFFF) + raw + struct.pack(">I", zlib.adler32(raw))
    header = struct.pack(">IIBBBBB", _WIDTH, _HEIGHT, 8, 3, 0, 0, 0)
    content = chunk(b"IHDR", header) + chunk(b"PLTE", _PALETTE) + chunk(b"IDAT", stored) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + content).decode()


_BAR = (0, 0, 32, 3, 1)
WANTED = png([_BAR, (2, 5, 20, 8, 4), (2, 10, 20, 12, 4), (22, 5, 30, 16, 3)])
BROKEN = png([_BAR, (2, 5, 20, 8, 4), (2, 10, 20, 12, 4), (14, 7, 22, 18, 2)])
FIXED = png([_BAR, (2, 5, 20, 8, 4), (2, 10, 20, 12, 4), (22, 5, 30, 16, 3)])
NARROW = png([(0, 0, 32, 2, 1), (4, 4, 28, 9, 4), (4, 11, 28, 18, 2)])

_CALLS = {name: identifier("", f"pictures:{name}", 22) for name in ("css", "edit", "shot")}
_ASK = "Left: how the sidebar should look. Right: how it looks since yesterday. The site is in ./web, served at http://127.0.0.1:4000."
_CSS = ".page { display: grid; grid-template-columns: 1fr; }\n.sidebar { position: relative; left: -8rem; top: 2rem; }\n" \
       "@media (min-width: 60rem) { .page { grid-template-columns: 2fr 1fr; } }"
_THOUGHT = "In the second screenshot the box overlaps the text: it is shifted left and down. The style sheet has left: -8rem on the sidebar."
_DONE = "The sidebar stands beside the text again. The rule `left: -8rem` came with yesterday's change and is gone."
_LAST = "On the phone it is red and covers the whole width now, see the screenshot. Can you have a look?"
_SIZE = "1280x800, saved to /tmp/shot.png"
_TOOLS = [
    {"name": "shell_exec", "description": "Run a command.", "parameters": {
        "type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}},
    {"name": "screenshot", "description": "Open a page and return a picture of it.", "parameters": {
        "type": "object", "properties": {"url": {"type": "string"}, "width": {"type": "integer"}}, "required": ["url"]}},
]
_SYSTEM = "You fix web pages. You see screenshots and you can take some."
_COMMANDS = {"css": {"command": "cat web/layout.css"}, "edit": {"command": "sed -i 's/ left: -8rem; top: 2rem;//' web/layout.css"},
             "shot": {"url": "http://127.0.0.1:4000/", "width": 1280}}


def images_anthropic() -> Body:
    def image(content: str) -> Body:
        return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": content}}

    def text(words: str) -> Body:
        return {"type": "text", "text": words}

    def use(name: str, tool: str) -> Body:
        return {"type": "tool_use", "id": f"toolu_01{_CALLS[name]}", "name": tool, "input": _COMMANDS[name]}

    def result(name: str, content: Any) -> Body:
        return {"type": "tool_result", "tool_use_id": f"toolu_01{_CALLS[name]}", "content": content}

    return {
        "model": ANTHROPIC_MODEL, "max_tokens": 4096, "system": _SYSTEM,
        "tools": [{"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]} for tool in _TOOLS],
        "messages": [
            {"role": "user", "content": [image(WANTED), image(BROKEN), text(_ASK)]},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": _THOUGHT, "signature": seal(_THOUGHT)},
                                              use("css", "shell_exec")]},
            {"role": "user", "content": [result("css", _CSS)]},
            {"role": "assistant", "content": [text("The offset is in the style sheet."), use("edit", "shell_exec")]},
            {"role": "user", "content": [result("edit", "(no output)")]},
            {"role": "assistant", "content": [use("shot", "screenshot")]},
            {"role": "user", "content": [result("shot", [text(_SIZE), image(FIXED)])]},
            {"role": "assistant", "content": [text(_DONE)]},
            {"role": "user", "content": [text(_LAST), image(NARROW)]},
        ],
    }


def images_chat() -> Body:
    def image(content: str) -> Body:
        return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{content}", "detail": "auto"}}

    def text(words: str) -> Body:
        return {"type": "text", "text": words}

    def use(name: str, tool: str, words: Any = None) -> Body:
        function = {"name": tool, "arguments": compact_arguments(name)}
        return {"role": "assistant", "content": words,
                "tool_calls": [{"id": f"call_{_CALLS[name]}", "type": "function", "function": function}]}

    def result(name: str, content: str) -> Body:
        return {"role": "tool", "tool_call_id": f"call_{_CALLS[name]}", "content": content}

    return {
        "model": OPENAI_MODEL, "max_completion_tokens": 4096,
        "tools": [{"type": "function", "function": tool} for tool in _TOOLS],
        "messages": [
            {"role": "system", "content": _SYSTEM},
            {"role": "user", "content": [image(WANTED), image(BROKEN), text(_ASK)]},
            use("css", "shell_exec"), result("css", _CSS),
            use("edit", "shell_exec", "The offset is in the style sheet."), result("edit", "(no output)"),
            use("shot", "screenshot"), result("shot", _SIZE),
            {"role": "user", "content": [text("Screenshot taken by the tool:"), image(FIXED)]},
            {"role": "assistant", "content": _DONE},
            {"role": "user", "content": [text(_LAST), image(NARROW)]},
        ],
    }


def compact_arguments(name: str) -> str:
    return json.dumps(_COMMANDS[name])
