// Foldline in openclaw: its handoff instead of a summary by the model, shorter tool outputs, and tools that bring originals back. Everything
// is done by the program `foldline`.
import { messageOf } from "./messages.js"
import { ask, askNow, run } from "./program.js"

/** Tokens of an output that is left as it is. */
const REDUCE_ABOVE = "2k"
/** openclaw cuts summaries at 16,000 characters. Handoffs of the half that is always left to us lost a value after three folds, so that the end
 * of some is cut, where openclaw adds many recent turns. */
const SUMMARY_TOKENS = 1_900

export default {
  id: "foldline",
  name: "Foldline",
  description: "Compacts conversations with Foldline",
  register(api) {
    api.registerCompactionProvider({ id: "foldline", label: "Foldline", summarize })
    api.registerAgentToolResultMiddleware(shorten, { runtimes: ["openclaw"] })
    for (const tool of askNow("tools/list", {}).tools) api.registerTool(toolOf(tool), { name: tool.name })
  },
}

/** The handoff of a conversation. If this fails, openclaw asks its model. */
function summarize({ messages, previousSummary, signal }) {
  const before = previousSummary ? [{ role: "user", content: handoffIn(previousSummary) }] : []
  // What openclaw keeps needs no place in the summary.
  const limits = ["compression.tail=500", `compression.summary_max=${SUMMARY_TOKENS}`, "compression.summary_min=1500"]
  const command = ["compress", "--format", "anthropic", "--handoff", "--quiet", "--recall", "tool", ...limits.flatMap((limit) => ["--set", limit])]
  return run(command, JSON.stringify({ messages: [...before, ...messages].map(messageOf) }), signal)
}

/** Our part of a summary: openclaw adds recent turns behind it, which are among the messages that were folded. */
function handoffIn(summary) {
  const end = summary.indexOf("[END OF FOLDLINE HANDOFF")
  const line = end < 0 ? -1 : summary.indexOf("\n", end)
  return line < 0 ? summary : summary.slice(0, line)
}

/** A shorter form of a tool's output; nothing to leave it as it is. */
async function shorten({ toolName, args, result }) {
  const [block] = result.content
  // What was asked back is wanted whole.
  if (result.content.length !== 1 || block.type !== "text" || toolName.startsWith("foldline_")) return
  const command = ["reduce", "--tool", toolName, "--args", JSON.stringify(args), "--above", REDUCE_ABOVE, "--recall", "tool"]
  const text = await run(command, block.text).catch(() => block.text)
  return text === block.text ? undefined : { result: { ...result, content: [{ type: "text", text }] } }
}

function toolOf({ name, description, inputSchema }) {
  return {
    name,
    label: name,
    description,
    parameters: inputSchema,
    // Handoffs name the tool, so that the agent must see it.
    catalogMode: "direct-only",
    async execute(_id, args) {
      const answer = await ask("tools/call", { name, arguments: args })
      if (answer.isError) throw new Error(answer.content.map((block) => block.text).join("\n"))
      return { content: answer.content, details: {} }
    },
  }
}
