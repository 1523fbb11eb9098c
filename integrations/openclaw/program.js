// The program `foldline`: its commands, and the tools of `foldline mcp`, which keep no state between calls.
import { execFile, execFileSync } from "node:child_process"

const PROGRAM = "foldline"
const TIMEOUT_MS = 60_000
const OPTIONS = { timeout: TIMEOUT_MS, maxBuffer: 1 << 28 }

/** What the program prints for an input. */
export function run(args, input, signal) {
  return new Promise((resolve, reject) => {
    const child = execFile(PROGRAM, args, { ...OPTIONS, signal }, (error, stdout, stderr) => (error ? reject(new Error(stderr.trim() || error.message)) : resolve(stdout)))
    child.stdin.on("error", () => {})
    child.stdin.end(input)
  })
}

/** One question to the tools. */
export async function ask(method, params) {
  return answerIn(await run(["mcp"], questions(method, params)))
}

/** The same for callers that cannot wait: plugins are registered in one go. */
export function askNow(method, params) {
  return answerIn(execFileSync(PROGRAM, ["mcp"], { ...OPTIONS, input: questions(method, params), encoding: "utf8", stdio: ["pipe", "pipe", "ignore"] }))
}

function questions(method, params) {
  const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "foldline-openclaw", version: "0.1.0" } }
  const messages = [
    { id: 1, method: "initialize", params: hello },
    { method: "notifications/initialized" },
    { id: 2, method, params },
  ]
  return messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("")
}

function answerIn(output) {
  const answers = output.split("\n").filter(Boolean).map((line) => JSON.parse(line))
  const answer = answers.find((message) => message.id === 2)
  if (!answer) throw new Error(`\`${PROGRAM} mcp\` ended without an answer`)
  if (answer.error) throw new Error(answer.error.message)
  return answer.result
}
