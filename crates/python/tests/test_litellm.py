"""LiteLLM's own calls with a scripted provider: several folds, then an original by its handle."""

import asyncio
import json

import pytest

litellm = pytest.importorskip("litellm")

from conversation import HANDLE, TASK, chat
from litellm import CustomLLM

import foldline
from foldline.litellm import FoldlineCallback


class Scripted(CustomLLM):
    """A provider that notes what it is sent."""

    def __init__(self):
        super().__init__()
        self.sent = []

    async def acompletion(self, *args, **kwargs):
        self.sent.append(json.loads(json.dumps(kwargs["messages"])))
        return litellm.mock_completion(model="scripted", messages=kwargs["messages"], mock_response="Done.")


@pytest.fixture()
def scripted(monkeypatch):
    provider = Scripted()
    monkeypatch.setattr(litellm, "custom_provider_map", [{"provider": "scripted", "custom_handler": provider}])
    litellm.utils.custom_llm_setup()
    return provider


def test_calls_are_compacted_through_several_folds(scripted, monkeypatch):
    fold = FoldlineCallback(window=16_000, recall_tool="foldline_recall")
    monkeypatch.setattr(litellm, "callbacks", [fold])

    async def work():
        for calls in range(1, 70):
            metadata = {"session_id": "one"}
            reply = await litellm.acompletion(model="scripted/any", messages=chat(calls), metadata=metadata)
            assert reply.choices[0].message.content == "Done."

    asyncio.run(work())
    sizes = [len(json.dumps(messages)) for messages in scripted.sent]
    assert len(sizes) == 69 and max(sizes) < 90_000
    assert sum(after < before for before, after in zip(sizes, sizes[1:])) >= 2, "several folds"
    assert all(foldline.validate(messages) == [] and TASK in json.dumps(messages) for messages in scripted.sent)
    handle = HANDLE.search(json.dumps(scripted.sent[-1])).group()
    assert "wrote order 67 in 0 ms" in fold.session("one").recall(handle, grep="order 67 ")


