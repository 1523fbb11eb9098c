"""What needs no session."""

import json
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional

from . import _native
from ._session import Compaction, Session, Summarizer
from ._wire import Body, text_of


def compact(
    body: Body,
    *,
    target_tokens: Optional[int] = None,
    window: Optional[int] = None,
    model: Optional[str] = None,
    preset: Optional[str] = None,
    focus: Optional[str] = None,
    pins: Iterable[str] = (),
    force: bool = False,
    settings: Optional[Mapping[str, Any]] = None,
    format: Optional[str] = None,
    summarizer: Optional[Summarizer] = None,
) -> Compaction:
    """Compacts one body, or one list of messages, if it is time to. An agent keeps a :class:`Session` instead.

    >>> import foldline
    >>> body = {"model": "gpt-5", "messages": [{"role": "user", "content": "Hello"}]}
    >>> foldline.compact(body).body is body
    True
    >>> foldline.compact(body, target_tokens=2)
    Traceback (most recent call last):
      ...
    foldline.CannotFit: the transcript cannot be brought to 2 tokens: ...
    """
    session = Session(model=model, window=window, preset=preset, settings=settings, format=format, summarizer=summarizer)
    return session.compact(body, target_tokens=target_tokens, focus=focus, pins=pins, force=force)


def validate(body: Body, *, format: Optional[str] = None) -> List[Dict[str, Any]]:
    """What a strict provider would refuse: message, rule and detail of each violation. Empty when it is valid.

    >>> import foldline
    >>> [found] = foldline.validate([{"role": "user", "content": "a"}, {"role": "tool", "tool_call_id": "x", "content": "b"}])
    >>> found["message"], found["rule"]
    (1, 'orphan-result')
    """
    return list(json.loads(_native.validate(text_of(body), format))["violations"])


def redact(text: str, *, mode: str = "text") -> str:
    """The text with its secrets masked. ``mode="code"`` leaves constants and fixtures of source code alone.

    >>> import foldline
    >>> foldline.redact("curl -u bob:sunshine-7 https://example.org")
    'curl -u bob:*** https://example.org'
    """
    return _native.redact(text, mode)


class Reduced(NamedTuple):
    """A shorter tool output."""

    #: What it was taken for, such as ``log`` or ``test-report``.
    kind: str
    text: str


def reduce(text: str, *, tool: str = "", argument: str = "") -> Optional[Reduced]:
    """One tool output, shorter: errors, failures, definitions and names stay. ``None`` when nothing worth it would be
    saved. ``argument`` is the command, path or pattern of the call.

    >>> import foldline
    >>> log = "".join(f"cc -c part_{n}.c -o part_{n}.o\\n" for n in range(400)) + "last.c:17:5: error: unknown type\\n"
    >>> shorter = foldline.reduce(log, tool="bash", argument="make")
    >>> "error: unknown type" in shorter.text, len(shorter.text) < len(log) / 4
    (True, True)
    """
    shorter = _native.reduce(text, tool, argument)
    return None if shorter is None else Reduced(*shorter)


def count(body: Body, *, model: Optional[str] = None, format: Optional[str] = None) -> int:
    """Tokens: of a text, or of a body or a list of messages as the provider counts them. Exact where the vocabulary of the
    model is public, estimated otherwise.

    >>> import foldline
    >>> foldline.count("Hello, world", model="gpt-5")
    3
    """
    if isinstance(body, str):
        return _native.count_text(body, model)
    return _native.count(text_of(body), model, format)
