import type { LanguageModelMiddleware, ModelMessage, Tool, jsonSchema, tool } from 'ai'
import type { Session, SessionOptions } from './index.js'

/**
 * One conversation of the Vercel AI SDK.
 *
 * ```ts
 * import { generateText, jsonSchema, tool } from 'ai'
 * import { Fold } from 'foldline/ai'
 *
 * const fold = new Fold({ window: 200_000 })
 * await generateText({ model, messages, tools: { ...tools, ...fold.tools({ tool, jsonSchema }) }, prepareStep: fold.prepareStep })
 * ```
 */
export class Fold {
  constructor (options?: SessionOptions)
  readonly session: Session
  /** For `generateText` and `streamText`: compacts the messages of each step. */
  readonly prepareStep: (step: { messages: ModelMessage[] }) => Promise<{ messages: ModelMessage[] }>
  /** For `wrapLanguageModel`: compacts each prompt. */
  readonly middleware: LanguageModelMiddleware
  /** The messages, compacted if it is time to. */
  messages (messages: ModelMessage[]): Promise<ModelMessage[]>
  /** The tool by which the agent reads what was removed. */
  tools (sdk: { tool: typeof tool, jsonSchema: typeof jsonSchema }): { foldline_recall: Tool }
  recall (look: { handle: string, turn?: string, lines?: string, grep?: string, page?: number }): string
}
