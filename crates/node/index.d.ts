/** A request body, an array of messages, or either as JSON. */
export type Body = string | object

/** What a model is asked for a handoff. Secrets are masked. */
export interface Prompt { system: string, user: string, maxTokens: number }

export interface SessionOptions {
  /** The model; taken from the body when not given. */
  model?: string
  /** Its window in tokens; taken from the table of models when not given. */
  window?: number
  preset?: 'steady' | 'hermes' | 'sacred-zone' | 'skill' | 'runway' | 'frugal'
  /** Any key of the settings file: `{ threshold: 0.6 }`. */
  settings?: Record<string, unknown>
  format?: 'openai-chat' | 'openai-responses' | 'anthropic' | 'claude-code' | 'sharegpt' | 'gemini'
  /** A tool of the agent that calls `recall`: handoffs and shortened outputs then say how to get at originals. */
  recallTool?: string
  /** Texts that must stay, or patterns with `*`. */
  pins?: string[]
  /** Asks a model for handoffs; without one, or when it fails, they are written without a model. */
  summarizer?: (prompt: Prompt) => string | Promise<string>
  /** What `Session.save` returned. */
  saved?: string
}

export interface Ask {
  /** Tokens that the result must fit; `CannotFitError` when it cannot. */
  targetTokens?: number
  /** What matters most. */
  focus?: string
  pins?: string[]
  /** Acts below the trigger, too. */
  force?: boolean
  /** Memory that stays in force beside a handoff. */
  memory?: string
  /** Seconds since the conversation's last request. */
  idleSeconds?: number
}

/** A text that was removed. */
export interface Original { handle: string, tool: string, text: string }

export interface Report {
  outcome: 'unchanged' | 'pruned' | 'folded' | 'clamped' | 'aborted'
  reason: string
  messages: { before: number, after: number }
  tokens: { before: number, after: number, source: string }
  bytes: { before: number, after: number }
  timing_ms: Record<string, number>
  warnings: string[]
  /** Further fields: see docs/report.md. */
  [field: string]: unknown
}

/** What came of a compaction. */
export class Compaction<B extends Body = Body> {
  private constructor ()
  /** The body to send, in the form it came in; the very same object when nothing was to be done. */
  readonly body: B
  /** Whether it is another than the one that came in. */
  readonly changed: boolean
  readonly outcome: Report['outcome']
  readonly report: Report
  /** For each message of the body its index among those that came in; `null` for those that are new or changed. Empty when nothing changed. */
  readonly kept: Array<number | null>
  /** Everything that was removed. */
  readonly originals: Original[]
  /** The result in a host's own objects: `objects` stand for the messages that came in, `messages` are those of the body. */
  rebuild<T, M> (objects: T[], messages: M[], make: (message: M) => T | T[]): T[]
}

/** One conversation. Between two folds each request extends the one before it. */
export class Session {
  constructor (options?: SessionOptions)
  /** Compacts a body if it is time to, on another thread. */
  compact<B extends Body> (body: B, ask?: Ask): Promise<Compaction<B>>
  /** The same while the caller waits. */
  compactSync<B extends Body> (body: B, ask?: Ask): Compaction<B>
  /** Takes note of the tokens that the provider reported for a body that was sent. */
  observe (body: Body, usage: { promptTokens: number, completionTokens?: number }): void
  /** A page of what was removed, for a model to read. */
  recall (handle: string, look?: { turn?: string, lines?: string, grep?: string, context?: number, page?: number }): string
  /** What was removed, byte for byte. */
  original (handle: string): string
  /** Everything that the session remembers, originals included. */
  save (): string
  readonly status: { window: number, trigger_tokens: number, folds: number, prunes: number, [field: string]: number }
}

/** Compacts one body if it is time to. An agent keeps a `Session` instead. */
export function compact<B extends Body> (body: B, options?: SessionOptions & Ask): Promise<Compaction<B>>
export function compactSync<B extends Body> (body: B, options?: SessionOptions & Ask): Compaction<B>

/** What a strict provider would refuse. */
export interface Violation { message: number, rule: string, detail: string }
export function validate (body: Body, options?: { format?: SessionOptions['format'] }): Violation[]

/** The text with its secrets masked. */
export function redact (text: string, options?: { mode?: 'text' | 'code' }): string

/** One tool output, shorter; `null` when nothing worth it would be saved. */
export function reduce (text: string, options?: { tool?: string, argument?: string }): { kind: string, text: string } | null

/** Tokens of a text, or of a body or an array of messages. */
export function count (body: Body, options?: { model?: string, format?: SessionOptions['format'] }): number

export const version: string

/** Anything that Foldline could not do. */
export class FoldlineError extends Error {}
/** The body is no transcript. */
export class TranscriptError extends FoldlineError {}
/** The target cannot be met; the message says the numbers. */
export class CannotFitError extends FoldlineError {}
/** An option or a setting that cannot be used. */
export class OptionError extends FoldlineError {}
/** No original has this handle, or what was asked of it is not there. */
export class RecallError extends FoldlineError {}
