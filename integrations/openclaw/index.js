// Foldline in openclaw: its handoff instead of a summary by the model. Everything is done by the program `foldline`.
import { execFile } from "node:child_process"

const PROGRAM = "foldline"
/** The name that openclaw gives to our tool; handoffs tell the agent to call it. */
const RECALL = "tool:foldline__foldline_recall"
const TIMEOUT_MS = 60_000

export default {
  id: "foldline",
  name: "Foldline",
  description: "Compacts conversations with Foldline",
  register(api) {
    api.registerCompactionProvider({
      id: "foldline",
      label: "Foldline",
      // If this fails, openclaw asks its model.
      summarize({ messages, previousSummary, signal }) {
        const before = previousSummary ? [{ role: "user", content: previousSummary }] : []
        // What openclaw keeps needs no place in the summary.
        const command = ["compress", "--format", "anthropic", "--handoff", "--quiet", "--recall", RECALL, "--set", "compression.tail=500"]
        return run(command, JSON.stringify({ messages: [...before, ...messages].map(messageOf) }), signal)
      },
    })
  },
}

/** What the program prints for an input. */
function run(args, input, signal) {
  return new Promise((resolve, reject) => {
    const options = { signal, timeout: TIMEOUT_MS, maxBuffer: 1 << 28 }
    const child = execFile(PROGRAM, args, options, (error, stdout, stderr) => (error ? reject(new Error(stderr.trim() || error.message)) : resolve(stdout)))
    child.stdin.on("error", () => {})
    child.stdin.end(input)
  })
}

/** A message of openclaw as one of the Messages API. */
function messageOf(message) {
  const blocks = typeof message.content === "string" ? [{ type: "text", text: message.content }] : (message.content ?? []).flatMap(blockOf)
  if (message.role === "assistant") return { role: "assistant", content: blocks }
  if (message.role !== "toolResult") return { role: "user", content: blocks }
  return { role: "user", content: [{ type: "tool_result", tool_use_id: message.toolCallId, content: blocks, is_error: message.isError === true }] }
}

function blockOf(block) {
  if (block.type === "text") return [{ type: "text", text: block.text }]
  if (block.type === "toolCall") return [{ type: "tool_use", id: block.id, name: block.name, input: block.arguments ?? {} }]
  // Reasoning is not told again.
  return []
}
