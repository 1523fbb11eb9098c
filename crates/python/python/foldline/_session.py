"""Sessions: one conversation, what was folded of it, and its originals."""

import json
import time
from typing import Any, Awaitable, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Union

from . import _native
from ._wire import Body, like, text_of


class Prompt(NamedTuple):
    """What a model is asked for a handoff. Secrets are masked."""

    system: str
    user: str
    max_tokens: int


class Original(NamedTuple):
    """A text that was removed."""

    handle: str
    #: The tool whose output it was; empty for anything else.
    tool: str
    text: str


#: Asks a model: a :class:`Prompt` in, its reply out. For :meth:`Session.acompact` it may be a coroutine function.
Summarizer = Callable[[Prompt], Union[str, Awaitable[str]]]


class Compaction:
    """What came of a compaction."""

    __slots__ = ("body", "report", "_done", "_originals")

    def __init__(self, given: Body, done: "_native.Done") -> None:
        text = done.body
        #: The body to send, in the form it came in; the very same object when nothing was to be done.
        self.body: Any = given if text is None else like(given, text)
        #: What was done and why, as `foldline compress --report` writes it.
        self.report: Dict[str, Any] = json.loads(done.report)
        self._done = done
        self._originals: Optional[List[Original]] = None

    @property
    def outcome(self) -> str:
        """``unchanged``, ``pruned``, ``folded``, ``clamped`` or ``aborted``."""
        return str(self.report["outcome"])

    @property
    def changed(self) -> bool:
        """Whether the body is another than the one that came in."""
        return self._done.body is not None

    @property
    def kept(self) -> List[Optional[int]]:
        """For each message of the body its index among the messages that came in; ``None`` for those that are new or
        changed. Empty when nothing changed."""
        return self._done.kept

    @property
    def originals(self) -> List[Original]:
        """Everything that was removed, byte for byte."""
        if self._originals is None:
            self._originals = [Original(*original) for original in self._done.originals]
        return self._originals

    def rebuild(self, objects: Sequence[Any], messages: Sequence[Any], make: Callable[[Any], Any]) -> List[Any]:
        """The result in a host's own objects. ``objects`` stand for the messages that came in, one for each, and come
        back themselves where a message was kept; ``make`` makes one of each message that is new or changed. ``messages``
        are the messages of the body."""
        if not self.changed:
            return list(objects)
        pairs = zip(self.kept, messages)
        return [make(message) if index is None else objects[index] for index, message in pairs]

    def __repr__(self) -> str:
        tokens = self.report["tokens"]
        return f"<Compaction {self.outcome}: {tokens['before']} to {tokens['after']} tokens, {self.report['reason']}>"


class Session:
    """One conversation.

    A host that sends its whole history with each request gets the fold of an earlier one back word for word, so that
    between two folds each request extends the one before it and provider caches keep hitting.

    ``model`` and ``window`` are taken from the body and the table of models where they are not given; ``settings`` takes
    any key of the settings file (``{"threshold": 0.6}``). ``recall_tool`` is the name of a tool of the agent that calls
    :meth:`recall`: handoffs and shortened outputs then say how to get at the originals. ``summarizer`` asks a model for
    handoffs; without one, or when it fails, they are written without a model.

    >>> from foldline import Session
    >>> session = Session(window=16_000, recall_tool="recall")
    >>> log = "".join(f"row {row} was written\\n" for row in range(9_000))
    >>> call = {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {"command": "cat import.log"}}
    >>> messages = [
    ...     {"role": "user", "content": "Why is the import slow?"},
    ...     {"role": "assistant", "content": [call]},
    ...     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": log}]},
    ...     {"role": "assistant", "content": "Every row is written alone."},
    ...     {"role": "user", "content": "Write them in batches."},
    ... ]
    >>> done = session.compact(messages, force=True)
    >>> session.original(done.originals[0].handle) == done.originals[0].text
    True
    >>> "row 4711 was written" in session.recall(done.originals[-1].handle, grep="row 4711 ")
    True
    """

    def __init__(
        self,
        *,
        model: Optional[str] = None,
        window: Optional[int] = None,
        preset: Optional[str] = None,
        settings: Optional[Mapping[str, Any]] = None,
        format: Optional[str] = None,
        pins: Iterable[str] = (),
        recall_tool: Optional[str] = None,
        summarizer: Optional[Summarizer] = None,
        saved: Optional[str] = None,
    ) -> None:
        options: Dict[str, Any] = {"model": model, "window": window, "preset": preset, "format": format, "recall_tool": recall_tool}
        options = {name: value for name, value in options.items() if value is not None}
        options["settings"] = dict(settings or {})
        self._native = _native.Session(json.dumps(options), saved)
        self._pins = list(pins)
        self._summarizer = summarizer

    def compact(
        self,
        body: Body,
        *,
        target_tokens: Optional[int] = None,
        focus: Optional[str] = None,
        pins: Iterable[str] = (),
        force: bool = False,
        memory: Optional[str] = None,
        idle_seconds: Optional[int] = None,
    ) -> Compaction:
        """Compacts a body or a list of messages if it is time to.

        ``target_tokens`` must be met, or :class:`CannotFit` is raised. ``force`` acts below the trigger, too. ``focus``
        is what matters most, ``pins`` what must stay: texts, or patterns with ``*``.
        """
        step = self._start(body, target_tokens, focus, pins, force, memory, idle_seconds)
        while isinstance(step, _native.Pending):
            text: Any = None
            error = ""
            try:
                text = self._summarizer(Prompt(*step.prompt)) if self._summarizer else None
            except Exception as failure:  # A model that fails must not stop the agent; the report says why.
                error = _reason(failure)
            if hasattr(text, "__await__"):
                getattr(text, "close", lambda: None)()  # Python warns of coroutines that nobody awaits.
                raise TypeError("this summarizer is asynchronous: call acompact")
            step = step.answer(text, error)
        return Compaction(body, step)

    async def acompact(
        self,
        body: Body,
        *,
        target_tokens: Optional[int] = None,
        focus: Optional[str] = None,
        pins: Iterable[str] = (),
        force: bool = False,
        memory: Optional[str] = None,
        idle_seconds: Optional[int] = None,
    ) -> Compaction:
        """The same without blocking the event loop; the summarizer may be a coroutine function."""
        import asyncio  # Here: it takes longer to import than everything else together.

        loop = asyncio.get_running_loop()
        asked = (body, target_tokens, focus, pins, force, memory, idle_seconds)
        step = await loop.run_in_executor(None, lambda: self._start(*asked))
        while isinstance(step, _native.Pending):
            text: Any = None
            error = ""
            try:
                text = self._summarizer(Prompt(*step.prompt)) if self._summarizer else None
                text = await text if hasattr(text, "__await__") else text
            except Exception as failure:
                text, error = None, _reason(failure)
            step = await loop.run_in_executor(None, step.answer, text, error)
        return Compaction(body, step)

    def observe(self, body: Body, *, prompt_tokens: int, completion_tokens: int = 0) -> None:
        """Takes note of the tokens that the provider reported for a body that was sent: later counts rest on them."""
        self._native.observe(text_of(body), prompt_tokens, completion_tokens)

    def recall(
        self,
        handle: str,
        *,
        turn: Optional[str] = None,
        lines: Optional[str] = None,
        grep: Optional[str] = None,
        context: int = 0,
        page: int = 1,
    ) -> str:
        """A page of what was removed, as turns and lines, for a model to read. ``turn`` and ``lines`` are ``"12"``,
        ``"12:20"``, ``"12:"`` or ``":20"``; ``grep`` is a regular expression."""
        look = {"turn": turn, "lines": lines, "grep": grep, "context": context, "page": page}
        return self._native.recall(handle, json.dumps({name: value for name, value in look.items() if value is not None}))

    def original(self, handle: str) -> str:
        """What was removed, byte for byte."""
        return self._native.original(handle)

    def save(self) -> str:
        """Everything that the session remembers, originals included. ``Session(saved=…)`` goes on with it."""
        return self._native.save()

    @property
    def status(self) -> Dict[str, Any]:
        """Window, trigger, folds so far."""
        return dict(json.loads(self._native.status()))

    def _start(
        self,
        body: Body,
        target_tokens: Optional[int],
        focus: Optional[str],
        pins: Iterable[str],
        force: bool,
        memory: Optional[str],
        idle_seconds: Optional[int],
    ) -> "Union[_native.Done, _native.Pending]":
        ask: Dict[str, Any] = {
            "target_tokens": target_tokens,
            "focus": focus,
            "pins": [*self._pins, *([pins] if isinstance(pins, str) else pins)],
            "force": force,
            "memory": memory,
            "idle_seconds": idle_seconds,
            "summarizer": self._summarizer is not None,
            "now_ms": time.time_ns() // 1_000_000,
            "today": time.strftime("%Y-%m-%d", time.gmtime()),
        }
        return self._native.compact(text_of(body), json.dumps(ask))


def _reason(failure: Exception) -> str:
    return f"{type(failure).__name__}: {failure}"
