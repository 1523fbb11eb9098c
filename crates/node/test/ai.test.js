'use strict'
// The loop of the AI SDK with its own mock model: several folds, then an original by its handle.
const assert = require('node:assert/strict')
const test = require('node:test')
const { TASK, HANDLE, log } = require('./conversation.js')

let ai, mocks
try {
  [ai, mocks] = [require('ai'), require('ai/test')]
} catch {
  console.log('SKIPPED: the package ai cannot be had here')
  process.exit(0)
}
const { Fold } = require('foldline/ai')
const Model = mocks[Object.keys(mocks).filter(name => /^MockLanguageModelV\d+$/.test(name)).sort().pop()]
const CALLS = 60
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }

/** Reads part after part, then recalls the first thing that was removed, then answers. */
function scripted (seen) {
  return new Model({
    doGenerate: async ({ prompt }) => {
      seen.sizes.push(JSON.stringify(prompt).length)
      const parts = prompt.flatMap(message => typeof message.content === 'string' ? [] : message.content)
      const calls = new Set(parts.filter(part => part.type === 'tool-call').map(part => part.toolCallId))
      for (const part of parts) assert.ok(part.type !== 'tool-result' || calls.has(part.toolCallId), 'a result without its call')
      assert.ok(prompt.some(message => message.role === 'user' && JSON.stringify(message.content).includes(TASK)))
      assert.equal(prompt[0].content, 'You look for slow imports.')
      const [step, last] = [seen.sizes.length - 1, parts.at(-1)]
      if (last.toolCallId === 'recall') {
        seen.recalled = JSON.stringify(last.output)
        return { content: [{ type: 'text', text: 'Done.' }], finishReason: { unified: 'stop', raw: 'stop' }, usage, warnings: [] }
      }
      const recall = step < CALLS ? null : { handle: HANDLE.exec(JSON.stringify(prompt))[0], grep: 'order 67 ' }
      const call = {
        type: 'tool-call',
        toolCallId: recall ? 'recall' : `call_${step}`,
        toolName: recall ? 'foldline_recall' : 'read_log',
        input: JSON.stringify(recall ?? { part: step })
      }
      return { content: [call], finishReason: { unified: 'tool-calls', raw: 'tool_calls' }, usage, warnings: [] }
    }
  })
}

async function work (model, fold, more) {
  const part = ai.jsonSchema({ type: 'object', properties: { part: { type: 'integer' } }, required: ['part'] })
  const readLog = ai.tool({ description: 'Reads a part of the log', inputSchema: part, execute: async ({ part }) => log(part) })
  return ai.generateText({
    model,
    system: 'You look for slow imports.',
    messages: [{ role: 'user', content: TASK }],
    tools: { read_log: readLog, ...fold.tools(ai) },
    stopWhen: ai.stepCountIs(CALLS + 5),
    ...more
  })
}

function judge (seen, done) {
  assert.equal(done.text, 'Done.')
  assert.ok(Math.max(...seen.sizes) < 100000, 'requests stay inside the window')
  assert.ok(seen.sizes.filter((size, at) => size < seen.sizes[at - 1]).length >= 2, 'several folds')
  assert.match(seen.recalled, /wrote order 67 in 0 ms/)
}

test('prepareStep', async () => {
  const [seen, fold] = [{ sizes: [] }, new Fold({ window: 16000 })]
  judge(seen, await work(scripted(seen), fold, { prepareStep: fold.prepareStep }))
})

test('middleware', async () => {
  const [seen, fold] = [{ sizes: [] }, new Fold({ window: 16000 })]
  judge(seen, await work(ai.wrapLanguageModel({ model: scripted(seen), middleware: fold.middleware }), fold))
})

test('parts that no wire format knows come back as they were', async () => {
  const image = { type: 'file', mediaType: 'image/png', data: 'aGVsbG8=' }
  const messages = [{ role: 'user', content: [{ type: 'text', text: TASK }, image] }]
  for (let part = 0; part < 40; part++) {
    const toolCallId = `call_${part}`
    messages.push({ role: 'assistant', content: [{ type: 'reasoning', text: 'hm' }, { type: 'tool-call', toolCallId, toolName: 'read_log', input: { part } }] })
    messages.push({ role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName: 'read_log', output: { type: 'text', value: log(part) } }] })
  }
  const result = await new Fold({ window: 16000 }).messages(messages)
  assert.ok(result.length < messages.length)
  assert.equal(result.at(-1), messages.at(-1))
  assert.ok(result.every(message => ['user', 'assistant', 'tool'].includes(message.role)))
  assert.ok(!JSON.stringify(result).includes('ai_sdk_part'))
})
