// What users write compiles, and mistakes do not.
import { generateText, jsonSchema, tool, wrapLanguageModel } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { compact, count, Session, validate } from 'foldline'
import { Fold } from 'foldline/ai'

export async function use (): Promise<number> {
  const body = { model: 'gpt-5', messages: [{ role: 'user', content: 'Hello' }] }
  const done = await compact(body, { window: 16_000, summarizer: async ({ system, user }) => system + user })
  const name: string = done.body.model
  const session = new Session({ preset: 'frugal', recallTool: 'recall' })
  session.compactSync(JSON.stringify(body), { targetTokens: 1_000 }).body.trim()
  const fold = new Fold({ window: 200_000 })
  const model = wrapLanguageModel({ model: new MockLanguageModelV3(), middleware: fold.middleware })
  await generateText({ model, prompt: name, tools: fold.tools({ tool, jsonSchema }), prepareStep: fold.prepareStep })
  // @ts-expect-error no such preset
  new Session({ preset: 'stady' })
  return count(body) + validate(body).length
}
