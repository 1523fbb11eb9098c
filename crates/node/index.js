'use strict'
const native = require(require('./platform.js').fileOf('foldline.node'))

class FoldlineError extends Error {
  get name () { return this.constructor.name }
}
class TranscriptError extends FoldlineError {}
class CannotFitError extends FoldlineError {}
class OptionError extends FoldlineError {}
class RecallError extends FoldlineError {}
const CLASSES = { TranscriptError, CannotFitError, OptionError, RecallError }

/** The error that a message of the native module stands for. */
function thrown (error) {
  const [, name, message] = /^(\w+): ([^]*)$/.exec(error.message) ?? []
  return CLASSES[name] ? new CLASSES[name](message) : error
}

function attempt (work) {
  try {
    return work()
  } catch (error) {
    throw thrown(error)
  }
}

function textOf (body) {
  if (typeof body === 'string') return body
  if (typeof body === 'object' && body !== null) return JSON.stringify(body)
  throw new TypeError(`a body is an object, an array of messages or JSON as a string, not ${typeof body}`)
}

/** What came of a compaction. */
class Compaction {
  #done
  #originals
  constructor (given, done) {
    const text = done.body
    this.#done = done
    this.changed = typeof text === 'string'
    this.body = !this.changed ? given : typeof given === 'string' ? text : JSON.parse(text)
    this.report = JSON.parse(done.report)
    this.kept = done.kept.map(index => index < 0 ? null : index)
  }

  get outcome () { return this.report.outcome }
  get originals () { return (this.#originals ??= this.#done.originals) }

  rebuild (objects, messages, make) {
    if (!this.changed) return [...objects]
    return this.kept.flatMap((index, at) => index === null ? make(messages[at]) : [objects[index]])
  }
}

const SESSION_OPTIONS = ['model', 'window', 'preset', 'settings', 'format']
const ASK_OPTIONS = { targetTokens: 'target_tokens', focus: 'focus', force: 'force', memory: 'memory', idleSeconds: 'idle_seconds' }

/** One conversation. */
class Session {
  #native
  #pins
  #summarizer
  constructor (options = {}) {
    const { recallTool, pins = [], summarizer, saved, ...rest } = options
    const unknown = Object.keys(rest).find(name => !SESSION_OPTIONS.includes(name))
    if (unknown) throw new OptionError(`${unknown}: there is no such option; expected ${SESSION_OPTIONS.join(', ')}, recallTool, pins, summarizer or saved`)
    this.#native = attempt(() => new native.Session(JSON.stringify({ ...rest, recall_tool: recallTool }), saved))
    this.#pins = pins
    this.#summarizer = summarizer
  }

  async compact (body, ask = {}) {
    const asked = this.#ask(ask)
    let step = await attempt(() => this.#native.compact(textOf(body), asked)).catch(error => { throw thrown(error) })
    while (step instanceof native.Pending) {
      let text, failure = ''
      try {
        text = await this.#summarizer(step.prompt)
      } catch (error) {
        failure = String(error) // A model that fails must not stop the agent; the report says why.
      }
      step = await step.answer(text, failure).catch(error => { throw thrown(error) })
    }
    return new Compaction(body, step)
  }

  compactSync (body, ask = {}) {
    const asked = this.#ask(ask)
    let step = attempt(() => this.#native.compactSync(textOf(body), asked))
    while (step instanceof native.Pending) {
      let text, failure = ''
      try {
        text = this.#summarizer(step.prompt)
      } catch (error) {
        failure = String(error)
      }
      if (typeof text?.then === 'function') throw new TypeError('this summarizer is asynchronous: call compact')
      step = attempt(() => step.answerSync(text, failure))
    }
    return new Compaction(body, step)
  }

  observe (body, { promptTokens, completionTokens = 0 }) {
    this.#native.observe(textOf(body), promptTokens, completionTokens)
  }

  recall (handle, look = {}) {
    return attempt(() => this.#native.recall(handle, JSON.stringify(look)))
  }

  original (handle) {
    return attempt(() => this.#native.original(handle))
  }

  save () { return this.#native.save() }
  get status () { return JSON.parse(this.#native.status()) }

  #ask (ask) {
    const wanted = { pins: [...this.#pins, ...(ask.pins ?? [])], summarizer: this.#summarizer !== undefined }
    for (const [name, value] of Object.entries(ask)) {
      if (name === 'pins') continue
      if (!(name in ASK_OPTIONS)) throw new OptionError(`${name}: there is no such option; expected ${Object.keys(ASK_OPTIONS).join(', ')} or pins`)
      wanted[ASK_OPTIONS[name]] = value
    }
    const now = new Date()
    return JSON.stringify({ ...wanted, now_ms: now.getTime(), today: now.toISOString().slice(0, 10) })
  }
}

/** The options of a session, and those of one compaction. */
function split (options) {
  const session = {}, ask = {}
  for (const [name, value] of Object.entries(options)) {
    if (name in ASK_OPTIONS || name === 'pins') ask[name] = value
    else session[name] = value
  }
  return [new Session(session), ask]
}

exports.compact = async function compact (body, options = {}) {
  const [session, ask] = split(options)
  return session.compact(body, ask)
}
exports.compactSync = function compactSync (body, options = {}) {
  const [session, ask] = split(options)
  return session.compactSync(body, ask)
}
exports.validate = (body, { format } = {}) => JSON.parse(attempt(() => native.validate(textOf(body), format))).violations
exports.redact = (text, { mode = 'text' } = {}) => attempt(() => native.redact(text, mode))
exports.reduce = (text, { tool = '', argument = '' } = {}) => native.reduce(text, tool, argument) ?? null
exports.count = (body, { model, format } = {}) =>
  attempt(() => typeof body === 'string' ? native.countText(body, model) : native.count(textOf(body), model, format))
exports.version = native.version()
exports.Session = Session
exports.Compaction = Compaction
exports.FoldlineError = FoldlineError
exports.TranscriptError = TranscriptError
exports.CannotFitError = CannotFitError
exports.OptionError = OptionError
exports.RecallError = RecallError
