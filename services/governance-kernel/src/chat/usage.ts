import { z } from 'zod';
import type { Usage } from './prices.ts';

const Tokens = z.int().min(0).max(1_000_000_000);
const ReportedUsage = z.looseObject({ prompt_tokens: Tokens, completion_tokens: Tokens });

/** What the model server says it used, or null when it does not say so in a form that can be counted. */
export function usageOf(value: unknown): Usage | null {
  const usage = ReportedUsage.safeParse(value);
  return usage.success
    ? { promptTokens: usage.data.prompt_tokens, completionTokens: usage.data.completion_tokens }
    : null;
}
