import { z } from 'zod';
import type { Usage } from './prices.ts';

const Tokens = z.int().min(0).max(1_000_000_000);
const ReportedUsage = z.looseObject({
  prompt_tokens: Tokens,
  completion_tokens: Tokens,
  total_tokens: Tokens.nullish(),
  completion_tokens_details: z.looseObject({ reasoning_tokens: Tokens.nullish() }).nullish(),
});
type ReportedUsage = z.infer<typeof ReportedUsage>;

/**
 * The usage that the model server reports, or `null` when it has no countable form. `isSaid`: the answer has content,
 * so its output tokens cannot be zero.
 */
export function usageOf(value: unknown, { isSaid }: { isSaid: boolean }): Usage | null {
  const usage = ReportedUsage.safeParse(value);
  if (!usage.success) return null;
  const completionTokens = outputTokens(usage.data);
  if (!Tokens.safeParse(completionTokens).success || (isSaid && completionTokens === 0)) return null;
  return { promptTokens: usage.data.prompt_tokens, completionTokens };
}

/**
 * Reasoning is billed as output. Some servers (xAI, and some proxies of Gemini) omit it from `completion_tokens`, and
 * only the total includes it. The reasoning tokens are added when there is no total, or when they exceed the completion
 * tokens.
 */
function outputTokens(usage: ReportedUsage): number {
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage;
  const reasoning = usage.completion_tokens_details?.reasoning_tokens ?? 0;
  const isBeside = reasoning > completion || (total ?? null) === null;
  return Math.max(completion + (isBeside ? reasoning : 0), (total ?? 0) - prompt);
}
