// Claude Code's own compaction, done by Foldline: `foldline compress` gets the conversation as a Messages body and returns the folded
// one. Messages that it did not change go back to Claude Code as they came, with their handles.

/** The name that Claude Code gives to our tool; markers and handoffs tell the agent to call it. */
const RECALL = 'mcp__plugin_foldline_foldline__foldline_recall'
const TIMEOUT_MS = 60_000

/** @type {import('claude-code').Register} */
export const register = (on) => {
  let folds = 0
  let saved = 0

  on('session.compact', async ($, e, next) => {
    // A fold takes milliseconds, so that none has to be made in advance.
    if (e.trigger === 'precompute') return { skip: 'foldline folds when it is time' }
    const used = await $.session.usage().then((usage) => usage.context.tokens, () => undefined)
    const argv = ['foldline', 'compress', '--format', 'anthropic', '--force', '--quiet', '--recall', `tool:${RECALL}`, '--report', '-']
    // What made it compact is what fits: its limit may be below the window of the model.
    if (used) argv.push('--window', String(used))
    if (e.instructions) argv.push('--focus', e.instructions)
    const ran = await $.process.run(argv, { stdin: JSON.stringify(bodyOf(e.messages)), timeoutMs: TIMEOUT_MS })
    if (ran.exitCode !== 0) throw new Error(ran.stderr.trim())
    const report = JSON.parse(ran.stderr)
    if (report.outcome === 'unchanged' || report.outcome === 'aborted') return next(e)
    folds += 1
    saved += report.tokens.before - report.tokens.after
    // Claude Code puts the name of the plugin before it.
    $.ui.status(`${folds} ${folds === 1 ? 'fold' : 'folds'}, ${Math.round(saved / 1000)}k tokens saved`)
    return {
      messages: messagesOf(JSON.parse(ran.stdout).messages, e.messages),
      tokensBefore: report.tokens.before,
      tokensAfter: report.tokens.after,
    }
  }).catch(($, e, next) => {
    $.ui.log(`foldline did not compact, Claude Code does: ${next.error?.message ?? 'see `foldline doctor`'}`)
    return next(e)
  })
}

/** The conversation as a Messages body. Claude Code has a message for each block; those of one turn belong together. */
function bodyOf(messages) {
  const turns = []
  messages.forEach((message, index) => {
    const last = turns.at(-1)
    if (last?.role === message.role) {
      last.content.push(...blocksOf(message))
      last.sources.push(index)
    } else {
      turns.push({ role: message.role, content: blocksOf(message), sources: [index] })
    }
  })
  // What has no words (images, reasoning) still stands for a message.
  for (const turn of turns) if (turn.content.length === 0) turn.content.push({ type: 'text', text: '[no text]' })
  return { messages: turns }
}

function blocksOf({ text, toolUses, toolResults = [] }) {
  return [
    ...toolResults.map((result) => ({
      type: 'tool_result', tool_use_id: result.tool_use_id, content: result.text, is_error: result.isError,
    })),
    ...(text.trim() ? [{ type: 'text', text }] : []),
    ...toolUses.map((use) => ({ type: 'tool_use', id: use.tool_use_id, name: use.tool, input: use.input })),
  ]
}

/** The folded conversation as Claude Code's messages: its own where a turn is as it was, new ones otherwise. */
function messagesOf(turns, originals) {
  const before = new Map(bodyOf(originals).messages.map((turn) => [turn.sources[0], JSON.stringify(turn)]))
  return turns.flatMap((turn) => {
    const isAsBefore = turn.sources && before.get(turn.sources[0]) === JSON.stringify(turn)
    return isAsBefore ? turn.sources.map((index) => kept(originals[index])) : [messageOf(turn)]
  })
}

/** A message that stays. Claude Code 2.1.326 files a tool result that it knows under the call of before the compaction, and a resumed
 * session then goes on from there, with everything that was folded: results are handed over as new ones. */
function kept(message) {
  if (!message.toolResults?.length) return message
  const { handle, ...asNew } = message
  return asNew
}

function messageOf({ role, content }) {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  const of = (type) => blocks.filter((block) => block.type === type)
  const textOf = (blocks) => blocks.map((block) => block.text).join('\n\n')
  const toolResults = of('tool_result').map((result) => ({
    tool_use_id: result.tool_use_id,
    text: typeof result.content === 'string' ? result.content : textOf(result.content ?? []),
    isError: result.is_error === true,
  }))
  return {
    role,
    text: textOf(of('text')),
    toolUses: of('tool_use').map((use) => ({ tool_use_id: use.id, tool: use.name, input: use.input })),
    ...(toolResults.length > 0 && { toolResults }),
  }
}
