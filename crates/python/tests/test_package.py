"""The package itself: forms of bodies, errors, threads, restarts, summarisers, documentation."""

import asyncio
import doctest
import json
import subprocess
import sys
import threading
import time

import pytest
from conversation import HANDLE, chat

import foldline
from foldline import Session


@pytest.mark.parametrize("module", ["foldline", "foldline._session", "foldline._texts"])
def test_examples_of_the_documentation_run(module):
    found = doctest.testmod(sys.modules[module], optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
    assert found.attempted > 0 and found.failed == 0


def test_a_result_has_the_form_of_what_came_in():
    messages = chat(40)
    body = {"model": "gpt-5", "messages": messages, "temperature": 0.25}
    as_list = foldline.compact(messages, window=16_000).body
    as_dict = foldline.compact(body, window=16_000, model="gpt-5").body
    as_text = foldline.compact(json.dumps(body), window=16_000).body
    as_bytes = foldline.compact(json.dumps(body).encode(), window=16_000).body
    assert isinstance(as_list, list) and isinstance(as_text, str) and as_bytes.decode() == as_text
    assert as_dict["temperature"] == 0.25 and len(as_dict["messages"]) < len(messages)
    assert json.loads(as_text)["messages"] == as_dict["messages"]


def test_what_needs_no_change_is_the_same_object():
    body = {"messages": chat(1)}
    done = foldline.compact(body)
    assert done.body is body and not done.changed and done.outcome == "unchanged" and done.kept == []


def test_half_a_surrogate_pair_passes():
    messages = chat(40)
    messages[3]["content"] = "broken \ud83d name"
    assert foldline.compact(messages, window=16_000).changed


def test_errors_say_what_was_expected():
    with pytest.raises(foldline.TranscriptError, match="line 1, column "):
        foldline.compact('{"messages": [')
    with pytest.raises(foldline.OptionError, match="threshold: 1.4 is out of range, expected a number from"):
        Session(settings={"threshold": 1.4})
    with pytest.raises(foldline.OptionError, match="preset.*expected"):
        Session(preset="stady")
    with pytest.raises(foldline.CannotFit, match="20 tokens"):
        foldline.compact(chat(40), target_tokens=20)
    with pytest.raises(foldline.RecallError, match="fl-000000000000"):
        Session().recall("fl-000000000000")
    with pytest.raises(TypeError, match="not int"):
        foldline.compact(5)
    assert issubclass(foldline.CannotFit, foldline.FoldlineError)


def test_a_whole_history_again_and_again_extends_itself_between_folds():
    session, last, folds, extended = Session(window=16_000), [], 0, 0
    for calls in range(1, 80):
        done = session.compact(chat(calls))
        if done.outcome == "unchanged":
            assert done.body[: len(last)] == last
            extended += done.changed
        else:
            folds += 1
        assert foldline.validate(done.body) == []
        last = done.body
    assert folds >= 3 and extended >= 20
    assert session.status["folds"] >= 1


def test_a_session_goes_on_after_a_restart_and_originals_with_it():
    first = Session(window=16_000, recall_tool="foldline_recall")
    text = json.dumps(first.compact(chat(40)).body)
    handle = HANDLE.search(text).group()
    assert "foldline_recall" in text
    second = Session(window=16_000, recall_tool="foldline_recall", saved=first.save())
    assert second.compact(chat(41)).body == first.compact(chat(41)).body
    assert second.original(handle) == first.original(handle)
    assert "wrote order 67 in 0 ms" in second.recall(handle, grep="order 67 ")


SUMMARY = """## Goal
Find out why the import of orders is slow.
## Key Decisions
- Index orders by day, because the planner scans them all.
## Remaining Work
- Measure again.
"""


def test_a_model_writes_the_handoff():
    asked = []

    def ask(prompt):
        asked.append(prompt)
        return SUMMARY

    done = foldline.compact(chat(40), window=16_000, force=True, summarizer=ask)
    assert done.report["handoff"]["by"] == "model" and "import of orders" in asked[0].user
    assert "Index orders by day" in json.dumps(done.body)

    async def ask_later(prompt):
        await asyncio.sleep(0)
        return SUMMARY

    done = asyncio.run(Session(window=16_000, summarizer=ask_later).acompact(chat(40), force=True))
    assert done.report["handoff"]["by"] == "model"
    with pytest.raises(TypeError, match="acompact"):
        Session(window=16_000, summarizer=ask_later).compact(chat(40), force=True)


def test_a_model_that_fails_does_not_stop_the_agent():
    def ask(prompt):
        raise ConnectionError("the server is on fire")

    done = foldline.compact(chat(40), window=16_000, force=True, summarizer=ask)
    assert done.report["handoff"]["by"] == "ledger"
    assert "the server is on fire" in json.dumps(done.report["summariser"])

    def stop(prompt):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        foldline.compact(chat(40), window=16_000, force=True, summarizer=stop)


def test_pins_and_focus():
    told = json.dumps(foldline.compact(chat(40), window=16_000, force=True, pins=["Deploy on Fridays never."]).body)
    assert "Deploy on Fridays never." in told


def test_other_threads_run_while_the_engine_works():
    text, ticks, done = json.dumps(chat(3_000)), [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.perf_counter()
    foldline.compact(text, window=200_000)
    ended = time.perf_counter()
    done.set()
    thread.join()
    # With the lock of the interpreter held there would be none in between.
    assert sum(began < at < ended for at in ticks) >= 3


def test_importing_takes_no_large_modules_along():
    code = "import sys, foldline; print(sorted({'asyncio', 'dataclasses', 'inspect', 'langchain', 'litellm'} & set(sys.modules)))"
    printed = subprocess.run([sys.executable, "-S", "-c", f"import sys; sys.path = {sys.path!r}; {code}"], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "[]"
