// Foldline in pi: its handoff instead of a summary by the model, shorter tool outputs, and tools that bring originals back. Everything is
// done by the program `foldline`.
import { execFile, spawn } from "node:child_process";

const PROGRAM = "foldline";
/** Tokens of an output that is left as it is. */
const REDUCE_ABOVE = "2k";
const TIMEOUT_MS = 60_000;

export default async function (pi: any) {
	pi.on("session_before_compact", async (event: any, ctx: any) => {
		const { messagesToSummarize, turnPrefixMessages, previousSummary, firstKeptEntryId, tokensBefore } = event.preparation;
		const before = previousSummary ? [{ role: "compactionSummary", summary: previousSummary }] : [];
		const messages = messagesOf([...before, ...messagesToSummarize, ...turnPrefixMessages]);
		// What pi keeps needs no place in the summary.
		const command = ["compress", "--format", "anthropic", "--handoff", "--quiet", "--recall", "tool", "--window", String(tokensBefore), "--set", "compression.tail=500"];
		if (event.customInstructions) command.push("--focus", event.customInstructions);
		try {
			const summary = await run(command, JSON.stringify({ messages }), event.signal);
			return { compaction: { summary, firstKeptEntryId, tokensBefore } };
		} catch (error) {
			// Without an answer pi asks its model.
			ctx.ui.notify(`foldline did not compact: ${error}`, "warning");
		}
	});

	pi.on("tool_result", async (event: any) => {
		const [block] = event.content;
		// What was asked back is wanted whole.
		if (event.content.length !== 1 || block.type !== "text" || event.toolName.startsWith("foldline_")) return;
		const command = ["reduce", "--tool", event.toolName, "--args", JSON.stringify(event.input), "--above", REDUCE_ABOVE, "--recall", "tool"];
		const text = await run(command, block.text).catch(() => block.text);
		return text === block.text ? undefined : { content: [{ type: "text", text }] };
	});

	for (const tool of (await ask("tools/list", {})).tools) {
		pi.registerTool({
			name: tool.name,
			label: tool.name,
			description: tool.description,
			parameters: tool.inputSchema,
			async execute(_id: string, args: Record<string, unknown>) {
				const answer = await ask("tools/call", { name: tool.name, arguments: args });
				if (answer.isError) throw new Error(answer.content.map((block: any) => block.text).join("\n"));
				return { content: answer.content, details: {} };
			},
		});
	}
}

/** What the program prints for an input. */
function run(args: string[], input: string, signal?: AbortSignal): Promise<string> {
	return new Promise((resolve, reject) => {
		const options = { signal, timeout: TIMEOUT_MS, maxBuffer: 1 << 28 };
		const child = execFile(PROGRAM, args, options, (error, stdout, stderr) => (error ? reject(stderr.trim() || error.message) : resolve(stdout)));
		child.stdin?.on("error", () => {});
		child.stdin?.end(input);
	});
}

/** One question to the tools of `foldline mcp`; they keep no state between calls. */
function ask(method: string, params: unknown): Promise<any> {
	return new Promise((resolve, reject) => {
		const server = spawn(PROGRAM, ["mcp"], { stdio: ["pipe", "pipe", "ignore"], timeout: TIMEOUT_MS });
		server.on("error", reject);
		server.on("close", () => reject(new Error(`\`${PROGRAM} mcp\` ended without an answer`)));
		let heard = "";
		server.stdout.on("data", (data) => {
			heard += data;
			const lines = heard.split("\n");
			heard = lines.pop() ?? "";
			const answer = lines.map((line) => JSON.parse(line)).find((message) => message.id === 2);
			if (!answer) return;
			server.kill();
			if (answer.error) reject(new Error(answer.error.message));
			else resolve(answer.result);
		});
		const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "foldline-pi", version: "0.1.0" } };
		const messages = [
			{ id: 1, method: "initialize", params: hello },
			{ method: "notifications/initialized" },
			{ id: 2, method, params },
		];
		server.stdin.write(messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join(""));
	});
}

/** Messages of pi as those of the Messages API. */
function messagesOf(messages: any[]): unknown[] {
	return messages.map((message) => {
		switch (message.role) {
			case "assistant":
				return { role: "assistant", content: message.content.flatMap(blockOf) };
			case "toolResult":
				return {
					role: "user",
					content: [{ type: "tool_result", tool_use_id: message.toolCallId, content: message.content.flatMap(blockOf), is_error: message.isError }],
				};
			case "compactionSummary":
			case "branchSummary":
				return { role: "user", content: message.summary };
			case "bashExecution":
				return { role: "user", content: `Ran \`${message.command}\`\n${message.output}` };
			default:
				return { role: "user", content: typeof message.content === "string" ? message.content : message.content.flatMap(blockOf) };
		}
	});
}

function blockOf(block: any): unknown[] {
	switch (block.type) {
		case "text":
			return [{ type: "text", text: block.text }];
		case "toolCall":
			return [{ type: "tool_use", id: block.id, name: block.name, input: block.arguments }];
		case "image":
			return [{ type: "image", source: { type: "base64", media_type: block.mimeType, data: block.data } }];
		default:
			// Reasoning is not told again.
			return [];
	}
}
