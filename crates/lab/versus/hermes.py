"""Hermes: its compressor as its host calls it, without a model, so that its deterministic summary is used; and its redaction.

Two rows: with VERSUS_SIZE=own it decides on the size of its result by the window; with VERSUS_SIZE=target the budget of its tail
is searched for so that the result is the largest that fits the target, or the smallest if none does. Only that call counts as time.
"""
import copy
import os
import tempfile
import time

os.environ.setdefault("HERMES_HOME", tempfile.mkdtemp())

from importlib.metadata import version

from agent.context_compressor import ContextCompressor
from agent.model_metadata import estimate_messages_tokens_rough
from agent.redact import redact_sensitive_text

from driver import Peer, serve


class Hermes(Peer):
    version = version("hermes-agent")
    seconds = None

    def compressor(self, window):
        made = ContextCompressor(model="gpt-5", quiet_mode=True, config_context_length=window)
        # Without a model: what Hermes itself does when its summariser cannot be reached.
        made._generate_summary = lambda *args, **kwargs: None
        return made

    def squeeze(self, messages, window, tail=None):
        compressor = self.compressor(window)
        if tail is not None:
            compressor.tail_token_budget = tail
        started = time.process_time()
        result = compressor.compress(copy.deepcopy(messages), force=True)
        self.seconds = time.process_time() - started
        return clean(result)

    def compress(self, messages, target, window):
        if os.environ.get("VERSUS_SIZE") != "target":
            return self.squeeze(messages, window)
        tried = []
        low, high = 0, 2 * target
        for _ in range(10):
            tail = (low + high) // 2
            result = self.squeeze(messages, window, tail)
            size = estimate_messages_tokens_rough(result)
            tried.append((size, self.seconds, result))
            low, high = (tail, high) if size <= target else (low, tail)
        fitting = [one for one in tried if one[0] <= target]
        by_size = lambda one: one[0]
        _, seconds, best = max(fitting, key=by_size) if fitting else min(tried, key=by_size)
        self.seconds = seconds
        return best

    def begin(self, window):
        self.messages, self.seconds = [], None
        self.running = self.compressor(window)

    def turn(self, new, used):
        self.messages += new
        known = used + estimate_messages_tokens_rough(new) if used else estimate_messages_tokens_rough(self.messages)
        if self.running.should_compress(known):
            self.messages = self.running.compress(self.messages, current_tokens=known)
        return clean(self.messages)

    def redact(self, text):
        self.seconds = None
        return redact_sensitive_text(text, force=True)


def clean(messages):
    """Fields with an underscore are the host's; it does not send them."""
    return [{key: value for key, value in message.items() if not key.startswith("_")} for message in messages]


serve(Hermes)
