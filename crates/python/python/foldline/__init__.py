"""Keeps the conversation of a long-running LLM agent inside its context window.

A request body, or a list of messages, goes in and comes out smaller: system prompt, opening and recent work stay as they
are, old tool outputs become shorter, the middle becomes a structured handoff, and the result is valid for its provider.
No step needs a model or a network. OpenAI Chat Completions and Responses, Anthropic Messages, Gemini, Claude Code and
ShareGPT are read and written.

>>> import foldline
>>> messages = [{"role": "user", "content": "Find out why the import is slow."}]
>>> for part in range(60):
...     call = {"id": f"call_{part}", "type": "function",
...             "function": {"name": "read_log", "arguments": '{"part": %d}' % part}}
...     log = "".join(f"part {part}: wrote row {row}\\n" for row in range(100))
...     messages += [{"role": "assistant", "content": None, "tool_calls": [call]},
...                  {"role": "tool", "tool_call_id": f"call_{part}", "content": log}]
>>> done = foldline.compact(messages, window=32_000)
>>> done.outcome
'folded'
>>> done.report["tokens"]["after"] < done.report["tokens"]["before"] / 2
True
>>> foldline.validate(done.body)
[]
"""

from ._native import CannotFit, FoldlineError, OptionError, RecallError, TranscriptError, __version__
from ._session import Compaction, Original, Prompt, Session
from ._texts import Reduced, compact, count, redact, reduce, validate

__all__ = [
    "CannotFit",
    "Compaction",
    "FoldlineError",
    "OptionError",
    "Original",
    "Prompt",
    "RecallError",
    "Reduced",
    "Session",
    "TranscriptError",
    "__version__",
    "compact",
    "count",
    "redact",
    "reduce",
    "validate",
]
