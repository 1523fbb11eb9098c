"""Foldline: the command line, one process per call."""
import json
import os
import subprocess
import tempfile

from driver import Peer, serve

BINARY = os.environ["VERSUS_BINARY"]


class Foldline(Peer):
    works_in_children = True

    def __init__(self):
        self.version = self.run(["--version"], "").split()[-1]
        self.folder = tempfile.TemporaryDirectory()

    def run(self, arguments, text):
        done = subprocess.run([BINARY, *arguments], input=text, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"foldline {' '.join(arguments)}: {done.stderr.strip()[-300:]}")
        return done.stdout

    def fold(self, messages, window, *arguments):
        body = json.dumps({"model": "gpt-5", "messages": messages})
        common = ["compress", "--format", "openai-chat", "--store", "none", "--quiet", "--window", str(window)]
        return json.loads(self.run([*common, *arguments], body))["messages"]

    def compress(self, messages, target, window):
        return self.fold(messages, window, "--force", "--target-tokens", str(target))

    def begin(self, window):
        self.window, self.messages = window, []
        self.state = os.path.join(tempfile.mkdtemp(dir=self.folder.name), "state.json")

    def turn(self, new, used):
        self.messages = self.fold(self.messages + new, self.window, "--state", self.state)
        return self.messages

    def redact(self, text):
        return self.run(["redact"], text)


serve(Foldline)
