"""LangChain's own agent loop with a scripted model: several folds, then an original by its handle."""

import asyncio

import pytest

pytest.importorskip("langchain.agents")

from conversation import HANDLE, TASK, log
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

import foldline
from foldline.langchain import FoldlineMiddleware

CALLS = 60


@tool
def read_log(part: int) -> str:
    """Reads a part of the log."""
    return log(part)


class Scripted(BaseChatModel):
    """Reads part after part, then recalls the first thing that was removed, then answers with it."""

    sizes: list = []
    recalled: list = []

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools, **kwargs):
        assert {each.name for each in tools} >= {"read_log", "foldline_recall"}
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self.sizes.append(sum(len(str(message.content)) for message in messages))
        assert any(isinstance(each, HumanMessage) and TASK in str(each.content) for each in messages)
        pairs = {call["id"] for each in messages if isinstance(each, AIMessage) for call in each.tool_calls}
        assert all(each.tool_call_id in pairs for each in messages if isinstance(each, ToolMessage))
        step = len(self.sizes) - 1
        last = messages[-1]
        if isinstance(last, ToolMessage) and last.tool_call_id == "recall":
            self.recalled.append(last.content)
            message = AIMessage("Done.")
        elif step < CALLS:
            call = {"name": "read_log", "args": {"part": step}, "id": f"call_{step}"}
            message = AIMessage("", tool_calls=[call])
        else:
            handle = HANDLE.search(" ".join(str(each.content) for each in messages)).group()
            call = {"name": "foldline_recall", "args": {"handle": handle, "grep": "order 67 "}, "id": "recall"}
            message = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=message)])


@pytest.mark.parametrize("how", ["invoke", "ainvoke"])
def test_an_agent_works_through_several_folds(how):
    model, fold = Scripted(sizes=[], recalled=[]), FoldlineMiddleware(window=16_000)
    agent = create_agent(
        model, [read_log], middleware=[fold], system_prompt="You look for slow imports.", checkpointer=InMemorySaver()
    )
    config = {"configurable": {"thread_id": "one"}, "recursion_limit": 1_000}
    task = {"messages": [HumanMessage(TASK)]}
    state = agent.invoke(task, config) if how == "invoke" else asyncio.run(agent.ainvoke(task, config))
    assert state["messages"][-1].content == "Done."
    assert len(state["messages"]) > 2 * CALLS, "the state keeps everything"
    assert max(model.sizes) < 80_000, "requests stay inside the window"
    assert sum(after < before for before, after in zip(model.sizes, model.sizes[1:])) >= 2, "several folds"
    assert "wrote order 67 in 0 ms" in model.recalled[0]
    # Another thread is another conversation.
    handle = HANDLE.search(str(fold.session("one").save())).group()
    with pytest.raises(foldline.RecallError):
        fold.session("two").recall(handle)
