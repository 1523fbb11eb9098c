'use strict'
const assert = require('node:assert/strict')
const test = require('node:test')
const foldline = require('foldline')
const { HANDLE, chat } = require('./conversation.js')

test('a result has the form of what came in', async () => {
  const body = { model: 'gpt-5', messages: chat(40), temperature: 0.25 }
  const asObject = await foldline.compact(body, { window: 16000 })
  const asText = foldline.compactSync(JSON.stringify(body), { window: 16000 })
  assert.equal(asObject.outcome, 'folded')
  assert.equal(asObject.body.temperature, 0.25)
  assert.deepEqual(JSON.parse(asText.body), asObject.body)
  assert.ok(asObject.body.messages.length < body.messages.length)
  assert.deepEqual(foldline.validate(asObject.body), [])
  asObject.kept.forEach((index, at) => index === null || assert.deepEqual(asObject.body.messages[at], body.messages[index]))
})

test('what needs no change is the same object', async () => {
  const body = { messages: chat(1) }
  const done = await foldline.compact(body)
  assert.equal(done.body, body)
  assert.equal(done.changed, false)
})

test('errors say what was expected', async () => {
  await assert.rejects(foldline.compact('{"messages": ['), { name: 'TranscriptError', message: /^line 1, column / })
  await assert.rejects(foldline.compact(chat(40), { targetTokens: 20 }), foldline.CannotFitError)
  assert.throws(() => new foldline.Session({ settings: { threshold: 1.4 } }), /threshold: 1.4 is out of range, expected a number from/)
  assert.throws(() => new foldline.Session({ wndow: 5 }), { name: 'OptionError', message: /wndow: there is no such option/ })
  assert.throws(() => new foldline.Session().recall('fl-000000000000'), foldline.RecallError)
  await assert.rejects(foldline.compact(5), TypeError)
})

test('a whole history again and again extends itself between folds', async () => {
  const session = new foldline.Session({ window: 16000 })
  let [last, folds, extended] = [[], 0, 0]
  for (let calls = 1; calls < 80; calls++) {
    const done = await session.compact(chat(calls))
    if (done.outcome === 'unchanged') {
      assert.deepEqual(done.body.slice(0, last.length), last)
      extended += done.changed
    } else folds++
    assert.deepEqual(foldline.validate(done.body), [])
    last = done.body
  }
  assert.ok(folds >= 3 && extended >= 20, `${folds} folds, ${extended} extended`)
  assert.ok(session.status.folds >= 1)
})

test('a session goes on after a restart, and originals with it', async () => {
  const options = { window: 16000, recallTool: 'foldline_recall' }
  const first = new foldline.Session(options)
  const text = JSON.stringify((await first.compact(chat(40))).body)
  const [handle] = HANDLE.exec(text)
  assert.ok(text.includes('foldline_recall'))
  const second = new foldline.Session({ ...options, saved: first.save() })
  assert.deepEqual((await second.compact(chat(41))).body, (await first.compact(chat(41))).body)
  assert.equal(second.original(handle), first.original(handle))
  assert.match(second.recall(handle, { grep: 'order 67 ' }), /wrote order 67 in 0 ms/)
})

test('a model writes the handoff, and one that fails does not stop the agent', async () => {
  const summary = '## Goal\nFind out why the import of orders is slow.\n## Key Decisions\n- Index orders by day, because the planner scans them all.\n'
  const asked = []
  const summarizer = async prompt => { asked.push(prompt); return summary }
  const done = await foldline.compact(chat(40), { window: 16000, force: true, summarizer })
  assert.equal(done.report.handoff.by, 'model')
  assert.match(asked[0].user, /import of orders/)
  assert.equal(foldline.compactSync(chat(40), { window: 16000, force: true, summarizer: () => summary }).report.handoff.by, 'model')
  assert.throws(() => foldline.compactSync(chat(40), { window: 16000, force: true, summarizer }), /call compact/)
  const failing = async () => { throw new Error('the server is on fire') }
  const without = await foldline.compact(chat(40), { window: 16000, force: true, summarizer: failing })
  assert.equal(without.report.handoff.by, 'ledger')
  assert.match(JSON.stringify(without.report.summariser), /the server is on fire/)
})

test('the event loop runs while the engine works', async () => {
  const text = JSON.stringify(chat(3000))
  let ticks = 0
  const timer = setInterval(() => ticks++, 1)
  await foldline.compact(text, { window: 200000 })
  clearInterval(timer)
  assert.ok(ticks >= 3, `${ticks} ticks`)
})

test('module and package are of one version', () => {
  assert.equal(foldline.version, require('foldline/package.json').version)
})

test('texts alone', () => {
  assert.equal(foldline.redact('curl -u bob:sunshine-7 https://example.org'), 'curl -u bob:*** https://example.org')
  assert.equal(foldline.count('Hello, world', { model: 'gpt-5' }), 3)
  assert.ok(foldline.count(chat(1)) > 500)
  const log = Array.from({ length: 400 }, (_, n) => `cc -c part_${n}.c -o part_${n}.o\n`).join('') + 'last.c:17:5: error: unknown type\n'
  const shorter = foldline.reduce(log, { tool: 'bash', argument: 'make' })
  assert.ok(shorter.text.includes('error: unknown type') && shorter.text.length < log.length / 4)
  assert.equal(foldline.reduce('ok\n'), null)
})
