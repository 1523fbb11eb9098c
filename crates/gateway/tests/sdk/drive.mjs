// Drives the gateway with the vendors' SDKs for Node: tools, streams, and a conversation that folds several times.
// usage: node drive.mjs GATEWAY; ends with 0 when everything holds.
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";

const gateway = process.argv[2];
const TURNS = 60;
const TASK = "Run every test file. Never touch vendor/.";
const output = (turn) =>
  Array.from({ length: 40 }, (_, n) => `tests/test_${turn}.py::case_${n} PASSED in 0.${n}s\n`).join("");
const args = (turn) => JSON.stringify({ command: `pytest tests/test_${turn}.py` });

async function chat(client) {
  const messages = [{ role: "system", content: "You are careful." }, { role: "user", content: TASK }];
  const outcomes = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const stream = turn % 2 === 0;
    const { data, response } = await client.chat.completions.create({ model: "node-chat", messages, stream }).withResponse();
    outcomes.push(response.headers.get("x-foldline-outcome"));
    let text = "";
    if (stream) {
      for await (const chunk of data) {
        assert.ok(chunk.choices.length > 0, "a chunk that only the gateway asked for");
        text += chunk.choices[0].delta.content ?? "";
      }
    } else {
      text = data.choices[0].message.content;
    }
    assert.equal(text, "Go on.");
    const call = { id: `call_${turn}`, type: "function", function: { name: "shell", arguments: args(turn) } };
    messages.push({ role: "assistant", content: text, tool_calls: [call] });
    messages.push({ role: "tool", tool_call_id: `call_${turn}`, content: output(turn) });
  }
  return outcomes;
}

async function responses(client) {
  const input = [{ role: "user", content: TASK }];
  const outcomes = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const stream = turn % 2 === 0;
    const request = { model: "node-responses", instructions: "You are careful.", input, store: false, stream };
    const { data, response } = await client.responses.create(request).withResponse();
    outcomes.push(response.headers.get("x-foldline-outcome"));
    let text = "";
    if (stream) {
      for await (const event of data) if (event.type === "response.output_text.delta") text += event.delta;
    } else {
      text = data.output_text;
    }
    assert.equal(text, "Go on.");
    input.push({ type: "function_call", call_id: `call_${turn}`, name: "shell", arguments: args(turn) });
    input.push({ type: "function_call_output", call_id: `call_${turn}`, output: output(turn) });
  }
  return outcomes;
}

async function messages(client) {
  const history = [{ role: "user", content: TASK }];
  const outcomes = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const stream = turn % 2 === 0;
    const request = { model: "node-messages", max_tokens: 100, system: "You are careful.", messages: history, stream };
    const { data, response } = await client.messages.create(request).withResponse();
    outcomes.push(response.headers.get("x-foldline-outcome"));
    let text = "";
    if (stream) {
      for await (const event of data) if (event.type === "content_block_delta") text += event.delta.text;
    } else {
      text = data.content[0].text;
    }
    assert.equal(text, "Go on.");
    history.push({ role: "assistant", content: [{ type: "tool_use", id: `call_${turn}`, name: "shell", input: JSON.parse(args(turn)) }] });
    history.push({ role: "user", content: [{ type: "tool_result", tool_use_id: `call_${turn}`, content: output(turn) }] });
  }
  return outcomes;
}

async function gemini(client) {
  const contents = [{ role: "user", parts: [{ text: TASK }] }];
  const shell = { name: "shell", parametersJsonSchema: { type: "object", properties: {} } };
  const config = { systemInstruction: "You are careful.", tools: [{ functionDeclarations: [shell] }] };
  const outcomes = [];
  for (let turn = 0; turn < TURNS; turn++) {
    const request = { model: "node-gemini", contents, config };
    let text = "";
    let answer;
    if (turn % 2 === 0) {
      for await (const chunk of await client.models.generateContentStream(request)) {
        answer ??= chunk;
        text += chunk.text ?? "";
      }
    } else {
      answer = await client.models.generateContent(request);
      text = answer.text;
    }
    outcomes.push(answer.sdkHttpResponse.headers["x-foldline-outcome"]);
    assert.equal(text, "Go on.");
    const { totalTokens } = await client.models.countTokens({ model: "node-gemini", contents });
    assert.ok(totalTokens > 0);
    const id = turn % 2 === 0 ? { id: `call_${turn}` } : {};
    const call = { ...id, name: "shell", args: JSON.parse(args(turn)) };
    contents.push({ role: "model", parts: [{ functionCall: call, thoughtSignature: "c2lnbmVk" }] });
    contents.push({ role: "user", parts: [{ functionResponse: { ...id, name: "shell", response: { output: output(turn) } } }] });
  }
  return outcomes;
}

const openai = new OpenAI({ baseURL: `${gateway}/v1`, apiKey: "test", maxRetries: 0, timeout: 30_000 });
const anthropic = new Anthropic({ baseURL: gateway, apiKey: "test", maxRetries: 0, timeout: 30_000 });
const google = new GoogleGenAI({ apiKey: "test", httpOptions: { baseUrl: gateway, timeout: 30_000 } });
const runs = [["chat", chat, openai], ["responses", responses, openai], ["messages", messages, anthropic], ["gemini", gemini, google]];
for (const [name, drive, client] of runs) {
  const outcomes = new Set(await drive(client));
  assert.ok(outcomes.has("checkpoint") || outcomes.has("folded"), [...outcomes].join());
  console.log(`node ${name}: ${TURNS} turns, outcomes ${[...outcomes].sort().join(", ")}`);
}
