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
 * The usage that the model server reports, or `null` when it does not report it in a form that can be counted.
 * `isSaid`: an answer exists, which no model gives for nothing. `isSaid`: something was answered, which no model does
 * for nothing.
 */
export function usageOf(value: unknown, { isSaid }: { isSaid: boolean }): Usage | null {
  const usage = ReportedUsage.safeParse(value);
  if (!usage.success) return null;
  const completionTokens = outputTokens(usage.data);
  if (!Tokens.safeParse(completionTokens).success || (isSaid && completionTokens === 0)) return null;
  return { promptTokens: usage.data.prompt_tokens, completionTokens };
}

/**
 * Reasoning is paid for as output. For some servers (xAI, and some before Gemini) `completion_tokens` leaves it out,
 * and only the total shows that. Without a total, and where it exceeds the completion that should include it, it is
 * added.
 */
function outputTokens(usage: ReportedUsage): number {
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage;
  const reasoning = usage.completion_tokens_details?.reasoning_tokens ?? 0;
  const isBeside = reasoning > completion || (total ?? null) === null;
  return Math.max(completion + (isBeside ? reasoning : 0), (total ?? 0) - prompt);
}
