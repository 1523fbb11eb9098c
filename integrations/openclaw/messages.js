// Messages of openclaw as those of the Messages API.

export function messageOf(message) {
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
