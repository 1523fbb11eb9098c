"""Foldline as the context engine of Hermes.

Everything is done by the program `foldline`: it folds conversations, shortens tool outputs and serves the tools that bring originals back.
"""
import json
import logging
import subprocess

from agent.context_engine import ContextEngine

from .tools import Tools

logger = logging.getLogger(__name__)

PROGRAM = "foldline"
# Tokens of an output that is left as it is.
REDUCE_ABOVE = "2k"
REDUCE_SECONDS, FOLD_SECONDS = 10, 120


def register(ctx):
    ctx.register_context_engine(Foldline())
    ctx.register_hook("transform_tool_result", shorten)


class Foldline(ContextEngine):
    """Folds where the settings of Foldline say."""

    def __init__(self):
        self._tools = Tools(PROGRAM)

    @property
    def name(self):
        return "foldline"

    def update_model(self, model, context_length, **rest):
        super().update_model(model, context_length, **rest)
        command = [PROGRAM, "inspect", "--json", "--format", "openai-chat", "--window", str(context_length)]
        try:
            seen = subprocess.run(command, input='{"messages":[{"role":"user","content":"."}]}', capture_output=True, text=True, timeout=FOLD_SECONDS)
            self.threshold_tokens = json.loads(seen.stdout)["trigger"]
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            logger.warning("foldline: folds at %s tokens, because its settings cannot be read: %s", self.threshold_tokens, error)

    def update_from_response(self, usage):
        self.last_prompt_tokens = usage.get("prompt_tokens", 0)
        self.last_completion_tokens = usage.get("completion_tokens", 0)
        self.last_total_tokens = usage.get("total_tokens", 0)

    def should_compress(self, prompt_tokens=None):
        tokens = self.last_prompt_tokens if prompt_tokens is None else prompt_tokens
        return 0 < self.threshold_tokens <= tokens

    def compress(self, messages, current_tokens=None, focus_topic=None, force=False):
        self._last_compress_aborted, self._last_summary_error = False, None
        command = [PROGRAM, "compress", "--format", "openai-chat", "--force", "--quiet", "--recall", "tool", "--report", "-"]
        if self.context_length:
            command += ["--window", str(self.context_length)]
        if focus_topic:
            command += ["--focus", focus_topic]
        try:
            body = json.dumps({"messages": messages})
            done = subprocess.run(command, input=body, capture_output=True, text=True, timeout=FOLD_SECONDS)
            if done.returncode != 0:
                raise OSError(done.stderr.strip())
            report = json.loads(done.stderr)
            folded = json.loads(done.stdout)["messages"]
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            # Hermes tells the user and goes on with the conversation as it is.
            self._last_compress_aborted, self._last_summary_error = True, f"foldline: {error}"
            return messages
        logger.info("foldline: %s", report["reason"])
        if report["outcome"] != "unchanged":
            self.compression_count += 1
        return folded

    def get_tool_schemas(self):
        try:
            return self._tools.schemas()
        except (OSError, ValueError) as error:
            logger.warning("foldline: no tools for recall and search: %s", error)
            return []

    def handle_tool_call(self, name, args, **_):
        try:
            return json.dumps({"result": self._tools.call(name, args)}, ensure_ascii=False)
        except (OSError, ValueError) as error:
            return json.dumps({"error": str(error)})


def shorten(tool_name="", args=None, result="", **_):
    """A shorter form of a tool's output with a handle; nothing to leave it as it is."""
    # What was asked back is wanted whole.
    if tool_name.startswith("foldline_") or not isinstance(result, str):
        return None
    command = [PROGRAM, "reduce", "--tool", tool_name, "--args", json.dumps(args or {}), "--above", REDUCE_ABOVE, "--recall", "tool"]
    try:
        done = subprocess.run(command, input=result, capture_output=True, text=True, timeout=REDUCE_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 and done.stdout != result else None
