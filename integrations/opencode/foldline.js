// Foldline in opencode: its handoff instead of the model's summary, shorter tool outputs, and tools that bring originals back. Everything
// is done by the program `foldline`.
import { execFile } from "node:child_process"

const PROGRAM = "foldline"
/** The name that opencode gives to our tool; markers and handoffs tell the agent to call it. */
const RECALL = "tool:foldline_foldline_recall"
/** Tokens of an output that is left as it is. */
const REDUCE_ABOVE = "2k"
const TIMEOUT_MS = 60_000

/** What the model is asked in place of a summary. opencode 1 cannot do without its answer, which is replaced. */
const STAND_IN = "The summary of this conversation is written by a program. Answer with the word: done"

export const Foldline = async ({ client }) => {
  /** Sessions that are being compacted: what opencode asks of plugins, then the handoff. */
  const compactions = new Map()

  return {
    config: async (config) => {
      config.mcp = { foldline: { type: "local", command: [PROGRAM, "mcp"], enabled: true }, ...config.mcp }
    },

    "experimental.session.compacting": async ({ sessionID }, asked) => {
      compactions.set(sessionID, { asked })
    },

    // The next messages of a session that is being compacted are those to summarise. Then the prompt is made.
    "experimental.chat.messages.transform": async (_, { messages }) => {
      const sessionID = messages[0]?.info.sessionID
      const compaction = compactions.get(sessionID)
      if (!compaction || compaction.handoff) return
      try {
        const before = await previous(client, sessionID)
        const body = { messages: [...before, ...messages].flatMap(messagesOf) }
        // What opencode keeps needs no place in the summary.
        const command = ["compress", "--format", "anthropic", "--handoff", "--quiet", "--recall", RECALL, "--set", "compression.tail=500"]
        compaction.handoff = await run(command, JSON.stringify(body))
        compaction.asked.prompt = STAND_IN
        messages.splice(0)
      } catch (error) {
        // The model summarises as if there were no plugin.
        compactions.delete(sessionID)
        console.error(`foldline did not compact: ${error}`)
      }
    },

    "experimental.text.complete": async ({ sessionID }, output) => {
      const handoff = compactions.get(sessionID)?.handoff
      if (!handoff) return
      output.text = handoff
      compactions.delete(sessionID)
    },

    "tool.execute.after": async ({ tool, args }, output) => {
      // What was asked back is wanted whole.
      if (tool.startsWith("foldline_") || typeof output.output !== "string") return
      const command = ["reduce", "--tool", tool, "--args", JSON.stringify(args ?? {}), "--above", REDUCE_ABOVE, "--recall", RECALL]
      output.output = await run(command, output.output).catch(() => output.output)
    },
  }
}

/** The latest summary of a session, which opencode keeps apart from the messages to summarise. */
async function previous(client, sessionID) {
  const { data = [] } = await client.session.messages({ path: { id: sessionID } })
  const summary = data.findLast(({ info, parts }) => info.summary === true && parts.some((part) => part.type === "text" && part.text))
  return summary ? [{ ...summary, info: { ...summary.info, role: "user" } }] : []
}

/** What the program prints for an input. */
function run(args, input) {
  return new Promise((resolve, reject) => {
    const options = { timeout: TIMEOUT_MS, maxBuffer: 1 << 28 }
    const child = execFile(PROGRAM, args, options, (error, stdout, stderr) => (error ? reject(stderr.trim() || error.message) : resolve(stdout)))
    child.stdin.on("error", () => {})
    child.stdin.end(input)
  })
}

/** A message of opencode as those of the Messages API: calls and their results are in one message there. */
function messagesOf({ info, parts }) {
  const text = (part) => ({ type: "text", text: part.text })
  // After a compaction opencode tells the model to go on; the user did not say that.
  const said = parts.filter((part) => part.type === "text" && part.text?.trim() && !part.metadata?.compaction_continue)
  if (info.role === "user") return said.length > 0 ? [{ role: "user", content: said.map(text) }] : []
  const calls = parts.filter((part) => part.type === "tool")
  const uses = calls.map((part) => ({ type: "tool_use", id: part.callID, name: part.tool, input: part.state.input ?? {} }))
  const results = calls.map(({ callID, state }) => ({
    type: "tool_result",
    tool_use_id: callID,
    content: state.output ?? state.error ?? "",
    is_error: state.status === "error",
  }))
  const messages = []
  if (said.length + uses.length > 0) messages.push({ role: "assistant", content: [...said.map(text), ...uses] })
  if (results.length > 0) messages.push({ role: "user", content: results })
  return messages
}
