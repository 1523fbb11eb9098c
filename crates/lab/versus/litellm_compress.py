"""LiteLLM: `litellm.compress()`, which replaces messages that matter little to the last question by stubs."""
import os

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # its table of models as packaged, not from the network

from importlib.metadata import version

import litellm

from driver import Peer, serve


class LiteLlm(Peer):
    version = version("litellm")

    def squeeze(self, messages, trigger, target):
        done = litellm.compress(messages=[worded(message) for message in messages], model="gpt-4o",
                                compression_trigger=trigger, compression_target=target)
        return done["messages"]

    def compress(self, messages, target, window):
        return self.squeeze(messages, 1, target)

    def begin(self, window):
        self.window, self.messages = window, []

    def turn(self, new, used):
        # The host keeps the whole conversation; every request is compressed anew. Trigger as Foldline's, target half of it.
        self.messages += new
        return self.squeeze(self.messages, int(self.window * 0.86), int(self.window * 0.43))


def worded(message):
    """It fails on calls without words (`content: null`), which providers allow; an empty text says the same."""
    return message | {"content": ""} if message.get("content") is None else message


serve(LiteLlm)
