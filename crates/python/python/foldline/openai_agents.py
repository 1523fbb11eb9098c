"""OpenAI Agents SDK: an input filter that compacts what a run sends to its model.

One filter is one conversation; keep it with the session of the SDK.

    from agents import Agent, RunConfig, Runner
    from foldline.openai_agents import InputFilter

    fold = InputFilter(window=200_000)
    agent = Agent(name="worker", tools=[*tools, fold.recall_tool])
    await Runner.run(agent, task, run_config=RunConfig(call_model_input_filter=fold))
"""

from typing import Any, Dict

from agents import Tool, function_tool
from agents.run import CallModelData, ModelInputData

from ._host import RECALL_TOOL, recall_function
from ._session import Session


class InputFilter:
    """Compacts the input of each model call; options are those of :class:`foldline.Session`."""

    def __init__(self, **options: Any) -> None:
        self.session = Session(**{"recall_tool": RECALL_TOOL, "format": "openai-responses", **options})
        #: For the agent's ``tools``: reads what was removed.
        self.recall_tool: Tool = function_tool(recall_function(lambda: self.session))

    async def __call__(self, data: "CallModelData[Any]") -> ModelInputData:
        given = data.model_data
        body: Dict[str, Any] = {"input": list(given.input)}
        if given.instructions:
            body["instructions"] = given.instructions
        if isinstance(data.agent.model, str):
            body["model"] = data.agent.model
        done = await self.session.acompact(body)
        items = done.rebuild(body["input"], done.body["input"], lambda item: item)
        return ModelInputData(input=items, instructions=given.instructions)
