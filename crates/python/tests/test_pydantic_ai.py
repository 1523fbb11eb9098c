"""Pydantic AI's own loop with a scripted model: several folds, then an original by its handle."""

import asyncio

import pytest

pytest.importorskip("pydantic_ai")

from conversation import HANDLE, TASK, log
from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import UsageLimits

from foldline.pydantic_ai import HistoryCompactor

CALLS = 60


def read_log(part: int) -> str:
    """Reads a part of the log."""
    return log(part)


class Scripted:
    """Reads part after part, then recalls the first thing that was removed, then answers."""

    def __init__(self):
        self.sizes, self.recalled = [], []

    def __call__(self, messages, info):
        parts = [part for message in messages for part in message.parts]
        self.sizes.append(len(str(parts)))
        calls = {part.tool_call_id for part in parts if isinstance(part, ToolCallPart)}
        assert all(part.tool_call_id in calls for part in parts if isinstance(part, ToolReturnPart))
        assert any(isinstance(part, UserPromptPart) and TASK in part.content for part in parts)
        step, last = len(self.sizes) - 1, parts[-1]
        if isinstance(last, ToolReturnPart) and last.tool_call_id == "recall":
            self.recalled.append(last.content)
            return ModelResponse(parts=[TextPart("Done.")])
        if step < CALLS:
            return ModelResponse(parts=[ToolCallPart("read_log", {"part": step}, f"call_{step}")])
        handle = HANDLE.search(str(parts)).group()
        arguments = {"handle": handle, "grep": "order 67 "}
        return ModelResponse(parts=[ToolCallPart("foldline_recall", arguments, "recall")])


def test_an_agent_works_through_several_folds():
    script, fold = Scripted(), HistoryCompactor(window=16_000)
    agent = Agent(
        FunctionModel(script),
        system_prompt="You look for slow imports.",
        tools=[read_log, fold.recall_tool],
        capabilities=[ProcessHistory(fold.process)],
    )
    done = asyncio.run(agent.run(TASK, usage_limits=UsageLimits(request_limit=CALLS + 5)))
    assert done.output == "Done."
    assert max(script.sizes) < 120_000, "requests stay inside the window"
    assert sum(after < before for before, after in zip(script.sizes, script.sizes[1:])) >= 2, "several folds"
    assert "wrote order 67 in 0 ms" in script.recalled[0]


def test_messages_that_stay_are_the_same_objects():
    history = [ModelRequest(parts=[UserPromptPart(TASK)])]
    for part in range(40):
        call = ToolCallPart("read_log", {"part": part}, f"call_{part}")
        history += [ModelResponse(parts=[call]), ModelRequest(parts=[ToolReturnPart("read_log", log(part), f"call_{part}")])]
    result = asyncio.run(HistoryCompactor(window=16_000).process(history))
    assert len(result) < len(history) and result[-1] is history[-1]
