"""The Agents SDK's own runner with a scripted model: several folds, then an original by its handle."""

import asyncio
import json

import pytest

agents = pytest.importorskip("agents")

from agents import Agent, Model, ModelResponse, RunConfig, Runner, function_tool
from agents.usage import Usage
from conversation import HANDLE, TASK, log
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from foldline.openai_agents import InputFilter

CALLS = 60
agents.set_tracing_disabled(True)


@function_tool
def read_log(part: int) -> str:
    """Reads a part of the log."""
    return log(part)


class Scripted(Model):
    """Reads part after part, then recalls the first thing that was removed, then answers."""

    def __init__(self):
        self.sizes, self.recalled = [], []

    async def get_response(self, system_instructions, input, *args, **kwargs):
        self.sizes.append(len(json.dumps(input)))
        calls = {item["call_id"] for item in input if item.get("type") == "function_call"}
        assert all(item["call_id"] in calls for item in input if item.get("type") == "function_call_output")
        assert any(TASK in json.dumps(item) for item in input if item.get("role") == "user")
        step, last = len(self.sizes) - 1, input[-1]
        if last.get("call_id") == "recall":
            self.recalled.append(last["output"])
            text = ResponseOutputText(text="Done.", type="output_text", annotations=[])
            item = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        else:
            handle = HANDLE.search(json.dumps(input))
            name, arguments, call_id = "read_log", {"part": step}, f"call_{step}"
            if step >= CALLS:
                name, arguments, call_id = "foldline_recall", {"handle": handle.group(), "grep": "order 67 "}, "recall"
            item = ResponseFunctionToolCall(
                call_id=call_id, name=name, arguments=json.dumps(arguments), type="function_call"
            )
        return ModelResponse(output=[item], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


def test_an_agent_works_through_several_folds():
    model, fold = Scripted(), InputFilter(window=16_000)
    agent = Agent(name="worker", instructions="You look for slow imports.", model=model, tools=[read_log, fold.recall_tool])
    config = RunConfig(call_model_input_filter=fold)
    done = asyncio.run(Runner.run(agent, TASK, run_config=config, max_turns=CALLS + 5))
    assert done.final_output == "Done."
    assert len(done.to_input_list()) > 2 * CALLS, "the SDK keeps everything"
    assert max(model.sizes) < 90_000, "requests stay inside the window"
    assert sum(after < before for before, after in zip(model.sizes, model.sizes[1:])) >= 2, "several folds"
    assert "wrote order 67 in 0 ms" in model.recalled[0]
