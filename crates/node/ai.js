'use strict'
// Vercel AI SDK: messages in Anthropic's form, whose blocks are as fine as the SDK's parts, and back.
const { FoldlineError, Session } = require('./index.js')

const RECALL_TOOL = 'foldline_recall'
/** A part that no wire format knows: the engine leaves it alone, and it comes back as it was. */
const OPAQUE = 'ai_sdk_part'

class Parts {
  #parts = new Map()
  #names = new Map()

  /** A message as a message of the wire. */
  written (message) {
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    if (typeof message.content === 'string') return { role, content: message.content }
    return { role, content: message.content.map(part => this.#remembered(part, this.#block(part))) }
  }

  #block (part) {
    if (part.type === 'text' && part.text !== '') return { type: 'text', text: part.text }
    if (part.type === 'tool-call' && !part.providerExecuted) {
      this.#names.set(part.toolCallId, part.toolName)
      return { type: 'tool_use', id: part.toolCallId, name: part.toolName, input: part.input ?? {} }
    }
    if (part.type === 'tool-result' && part.output !== undefined) {
      const isError = part.output.type?.startsWith('error')
      return { type: 'tool_result', tool_use_id: part.toolCallId, content: said(part.output), ...(isError && { is_error: true }) }
    }
    return { type: OPAQUE, id: String(this.#parts.size) }
  }

  #remembered (part, block) {
    this.#parts.set(JSON.stringify(block), part)
    return block
  }

  /** Messages of the SDK for one of the wire: results stand in messages of their own. */
  read ({ role, content }) {
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
    const parts = blocks.map(block => [block, this.#parts.get(JSON.stringify(block)) ?? this.#part(block)])
    if (role === 'assistant') return [{ role, content: parts.map(([, part]) => part) }]
    const isResult = ([block, part]) => block.type === 'tool_result' || part.type.startsWith('tool-')
    const messages = [
      { role: 'tool', content: parts.filter(isResult).map(([, part]) => part) },
      { role: 'user', content: parts.filter(pair => !isResult(pair)).map(([, part]) => part) }
    ]
    return messages.filter(message => message.content.length > 0)
  }

  #part (block) {
    switch (block.type) {
      case 'tool_use':
        return { type: 'tool-call', toolCallId: block.id, toolName: block.name, input: block.input }
      case 'tool_result': {
        const value = typeof block.content === 'string' ? block.content : (block.content ?? []).map(each => each.text ?? '').join('\n')
        const output = { type: block.is_error ? 'error-text' : 'text', value }
        return { type: 'tool-result', toolCallId: block.tool_use_id, toolName: this.#names.get(block.tool_use_id) ?? '', output }
      }
      default:
        return { type: 'text', text: block.text ?? '' }
    }
  }
}

/** What a result says. */
function said (output) {
  switch (output.type) {
    case 'text': case 'error-text': return output.value
    case 'content': return output.value.map(each => each.type === 'text' ? each.text : `[${each.mediaType ?? each.type}]`).join('\n')
    default: return JSON.stringify(output.value ?? null)
  }
}

/** A conversation of the AI SDK. Options are those of `Session`. */
class Fold {
  constructor (options = {}) {
    this.session = new Session({ recallTool: RECALL_TOOL, format: 'anthropic', ...options })
    this.prepareStep = async ({ messages }) => ({ messages: await this.messages(messages) })
    this.middleware = {
      specificationVersion: 'v3',
      transformParams: async ({ params }) => ({ ...params, prompt: await this.messages(params.prompt) })
    }
  }

  /** The messages, compacted if it is time to. */
  async messages (messages) {
    const isFirst = messages.findIndex(message => message.role !== 'system')
    const lead = isFirst < 0 ? messages.length : isFirst
    const [system, rest] = [messages.slice(0, lead), messages.slice(lead)]
    const parts = new Parts()
    const body = { system: system.map(message => message.content).join('\n'), messages: rest.map(message => parts.written(message)) }
    const done = await this.session.compact(body)
    return [...system, ...done.rebuild(rest, done.body.messages, message => parts.read(message))]
  }

  /** Reads what was removed: what a tool of the agent runs. */
  recall ({ handle, turn, lines, grep, page }) {
    try {
      return this.session.recall(handle, { turn, lines, grep, page })
    } catch (error) {
      if (error instanceof FoldlineError) return error.message // The model asked for what is not there; it can ask again.
      throw error
    }
  }

  /** The tool by which the agent reads originals, for the SDK's `tools`. */
  tools ({ tool, jsonSchema }) {
    const text = description => ({ type: 'string', description })
    const properties = {
      handle: text('The handle as it stands in the conversation, like fl-3f9a0c51d2e7'),
      turn: text('Only these turns: 12 or 12:20'),
      lines: text('Only these lines of the turn: 120:180'),
      grep: text('Only lines that match this regular expression'),
      page: { type: 'integer', description: 'Which page' }
    }
    const inputSchema = jsonSchema({ type: 'object', properties, required: ['handle'], additionalProperties: false })
    const description = 'Reads text that was removed from this conversation, by its handle.'
    return { [RECALL_TOOL]: tool({ description, inputSchema, execute: async input => this.recall(input) }) }
  }
}

exports.Fold = Fold
