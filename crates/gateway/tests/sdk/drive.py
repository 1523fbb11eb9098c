"""Drives the gateway with the vendors' Python SDKs: tools, streams, and a conversation long enough to fold several times.

usage: drive.py GATEWAY
Prints one line per check; ends with 0 when all of them hold.
"""

import json
import sys

import anthropic
import openai
from google import genai
from google.genai import types

GATEWAY = sys.argv[1]
TURNS = 60
TASK = "Run every test file. Never touch vendor/."


def output(turn):
    return "".join(f"tests/test_{turn}.py::case_{n} PASSED in 0.{n:03d}s\n" for n in range(40))


def arguments(turn):
    return json.dumps({"command": f"pytest tests/test_{turn}.py"})


def chat(client):
    messages = [{"role": "system", "content": "You are careful."}, {"role": "user", "content": TASK}]
    tool = {"type": "function", "function": {"name": "shell", "parameters": {"type": "object", "properties": {}}}}
    outcomes = []
    for turn in range(TURNS):
        raw = client.chat.completions.with_raw_response.create(
            model="sdk-chat", messages=messages, tools=[tool], stream=turn % 2 == 0
        )
        outcomes.append(raw.headers["x-foldline-outcome"])
        reply = raw.parse()
        if turn % 2 == 0:
            chunks = list(reply)
            assert all(chunk.choices for chunk in chunks), "a chunk that only the gateway asked for"
            text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        else:
            text = reply.choices[0].message.content
        assert text == "Go on.", text
        call = {"id": f"call_{turn}", "type": "function", "function": {"name": "shell", "arguments": arguments(turn)}}
        messages.append({"role": "assistant", "content": text, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{turn}", "content": output(turn)})
    return outcomes


def responses(client):
    items = [{"role": "user", "content": TASK}]
    outcomes = []
    for turn in range(TURNS):
        raw = client.responses.with_raw_response.create(
            model="sdk-responses", instructions="You are careful.", input=items, store=False, stream=turn % 2 == 0
        )
        outcomes.append(raw.headers["x-foldline-outcome"])
        reply = raw.parse()
        if turn % 2 == 0:
            events = list(reply)
            assert events[-1].type == "response.completed", events[-1].type
            text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
        else:
            text = reply.output_text
        assert text == "Go on.", text
        items.append({"type": "function_call", "call_id": f"call_{turn}", "name": "shell", "arguments": arguments(turn)})
        items.append({"type": "function_call_output", "call_id": f"call_{turn}", "output": output(turn)})
    return outcomes


def messages(client):
    history = [{"role": "user", "content": TASK}]
    outcomes = []
    for turn in range(TURNS):
        request = dict(model="sdk-messages", max_tokens=100, system="You are careful.", messages=history)
        if turn % 2 == 0:
            with client.messages.stream(**request) as stream:
                text = "".join(stream.text_stream)
                outcomes.append(stream.response.headers["x-foldline-outcome"])
        else:
            raw = client.messages.with_raw_response.create(**request)
            outcomes.append(raw.headers["x-foldline-outcome"])
            text = raw.parse().content[0].text
        assert text == "Go on.", text
        use = {"type": "tool_use", "id": f"call_{turn}", "name": "shell", "input": json.loads(arguments(turn))}
        history.append({"role": "assistant", "content": [use]})
        result = {"type": "tool_result", "tool_use_id": f"call_{turn}", "content": output(turn)}
        history.append({"role": "user", "content": [result]})
    return outcomes


def gemini(client):
    contents = [types.Content(role="user", parts=[types.Part(text=TASK)])]
    shell = types.FunctionDeclaration(name="shell", parameters_json_schema={"type": "object", "properties": {}})
    config = types.GenerateContentConfig(
        system_instruction="You are careful.",
        tools=[types.Tool(function_declarations=[shell])],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    outcomes = []
    for turn in range(TURNS):
        request = dict(model="sdk-gemini", contents=contents, config=config)
        if turn % 2 == 0:
            chunks = list(client.models.generate_content_stream(**request))
            text = "".join(chunk.text or "" for chunk in chunks)
            answer = chunks[0]
        else:
            answer = client.models.generate_content(**request)
            text = answer.text
        headers = {name.lower(): value for name, value in answer.sdk_http_response.headers.items()}
        outcomes.append(headers["x-foldline-outcome"])
        assert text == "Go on.", text
        assert client.models.count_tokens(model="sdk-gemini", contents=contents).total_tokens > 0
        # Every second call has an id.
        name = f"call_{turn}" if turn % 2 == 0 else None
        call = types.FunctionCall(id=name, name="shell", args=json.loads(arguments(turn)))
        contents.append(types.Content(role="model", parts=[types.Part(function_call=call, thought_signature=b"signed")]))
        result = types.FunctionResponse(id=name, name="shell", response={"output": output(turn)})
        contents.append(types.Content(role="user", parts=[types.Part(function_response=result)]))
    return outcomes


def main():
    one = openai.OpenAI(base_url=f"{GATEWAY}/v1", api_key="test", max_retries=0, timeout=30)
    two = anthropic.Anthropic(base_url=GATEWAY, api_key="test", max_retries=0, timeout=30)
    three = genai.Client(api_key="test", http_options=types.HttpOptions(base_url=GATEWAY, timeout=30_000))
    runs = [("chat", chat, one), ("responses", responses, one), ("messages", messages, two), ("gemini", gemini, three)]
    for name, drive, client in runs:
        outcomes = drive(client)
        assert "checkpoint" in outcomes or "folded" in outcomes, outcomes
        print(f"python {name}: {TURNS} turns, {len(set(outcomes))} outcomes: {sorted(set(outcomes))}")


main()
