"""Headroom: `compress()` of its library with its defaults. It has no target size."""
import os
import tempfile

os.environ.update(HEADROOM_TELEMETRY="off", HEADROOM_HOME=tempfile.mkdtemp(), HF_HUB_OFFLINE="1")

from importlib.metadata import version

from headroom import compress

from driver import Peer, serve


class Headroom(Peer):
    version = version("headroom-ai")

    def compress(self, messages, target, window):
        return compress(messages, model="gpt-4o").messages

    def begin(self, window):
        self.messages = []

    def turn(self, new, used):
        self.messages += new
        return compress(self.messages, model="gpt-4o").messages


serve(Headroom)
