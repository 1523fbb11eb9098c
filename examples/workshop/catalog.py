"""Every file of the examples folder: its name, its content, and what it shows."""
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, List

from . import damage, pictures, recordings, wire
from .project import Project
from .screenplay import read_session
from .session import Session
from .two_hours import TOOLS, two_hours

_TEXT = Path(__file__).parent / "text"


@dataclass(frozen=True)
class Example:
    name: str
    what: str
    shows: str
    make: Callable[[], str]


def tool(name: str, description: str, *fields: str) -> Dict[str, object]:
    properties = {field: {"type": "string"} for field in fields}
    return {"name": name, "description": description,
            "parameters": {"type": "object", "properties": properties, "required": list(fields)}}


def plain(name: str, system: str, tools: List[dict]) -> Session:
    """A session whose screenplay contains all of its results."""
    def unknown(*_: object) -> str:
        raise ValueError(f"{name}: results stand in the screenplay")
    text = (_TEXT / f"{name}.txt").read_text(encoding="utf-8")
    return read_session(name, text, [system], tools, Project({}), unknown, unknown)


def small() -> Session:
    return plain("small", "You are a programming agent in a small TypeScript repository. Be brief. Do not commit.", TOOLS)


def trajectory() -> Session:
    tools = [tool("terminal", "Run a shell command.", "command"), tool("python", "Run a Python snippet.", "code")]
    return plain("trajectory", "You are a data analyst with a shell and a Python interpreter.", tools)


EXAMPLES: List[Example] = [
    Example("two-hour-session.anthropic.json", "Two hours of programming, 83 tool calls, Anthropic Messages request.",
            "Every kind of tool output, duplicates, superseded reads, signed thinking, an interrupted command, cache marks.",
            lambda: wire.rendered(wire.anthropic(two_hours()))),
    Example("two-hour-session.openai-chat.json", "The same session as a Chat Completions request.",
            "`tool_calls` with arguments as JSON strings, `tool` messages, `reasoning_content`.",
            lambda: wire.rendered(wire.openai_chat(two_hours()))),
    Example("two-hour-session.openai-responses.json", "The same session as a Responses request.",
            "`input` items in pairs by `call_id`, reasoning items with `encrypted_content`.",
            lambda: wire.rendered(wire.openai_responses(two_hours()))),
    Example("small.anthropic.json", "A short session, Anthropic Messages request.",
            "Below every trigger: comes back unchanged unless forced.", lambda: wire.rendered(wire.anthropic(small()))),
    Example("small.openai-chat.json", "The short session as a Chat Completions request.",
            "The same, and parallel calls in one message.", lambda: wire.rendered(wire.openai_chat(small()))),
    Example("small.openai-responses.json", "The short session as a Responses request.",
            "The same with items.", lambda: wire.rendered(wire.openai_responses(small()))),
    Example("damaged.anthropic.json", "The short session after a crash, Anthropic Messages request.",
            "Orphan result, unanswered call, blank text blocks, two user messages in a row, a call in flight at the end.",
            lambda: wire.rendered(damage.damaged_anthropic(small()))),
    Example("damaged.openai-chat.json", "The short session after a crash, Chat Completions request.",
            "The same five kinds of damage.", lambda: wire.rendered(damage.damaged_chat(small()))),
    Example("claude-code-session.jsonl", "A session file in the form that Claude Code writes.",
            "One reply over several lines with one `message.id`, results with `toolUseResult`, `uuid` chain, usage.",
            lambda: recordings.claude_code(plain("claude-code", "", []))),
    Example("trajectory.sharegpt.json", "A data analysis as a ShareGPT trajectory.",
            "`from`/`value` turns with `<tool_call>` and `<tool_response>` inside the text.",
            lambda: wire.rendered(recordings.sharegpt(trajectory()))),
    Example("images.anthropic.json", "A layout fix with screenshots, Anthropic Messages request.",
            "Image blocks in user messages and inside a tool result; tiny PNG files.",
            lambda: wire.rendered(pictures.images_anthropic())),
    Example("images.openai-chat.json", "The same as a Chat Completions request.",
            "`image_url` parts with data URLs; the tool's picture follows in a user message.",
            lambda: wire.rendered(pictures.images_chat())),
]


def readme() -> str:
    rows = "\n".join(f"| `{example.name}` | {example.what}<br>{example.shows} |" for example in EXAMPLES)
    head = (_TEXT / "readme.md").read_text(encoding="utf-8")
    return head.replace("{{table}}", "| file | what it is, what it shows |\n|---|---|\n" + rows)


def files() -> Dict[str, str]:
    made = {example.name: example.make() for example in EXAMPLES}
    made["README.md"] = readme()
    return made
