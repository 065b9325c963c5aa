/** Prices in minor units per million tokens, in the currency of the workspace's budget: no conversion takes place. */
type ModelPrices = { inputMinorPerMillion: number; outputMinorPerMillion: number };

/** One minor unit is 10,000 micros: a call of a few tokens costs less than a cent and still counts. */
const microsPerMinor = 10_000;
const tokensPerMillion = 1_000_000;

export function costMicros(prices: ModelPrices, tokens: { input: number; output: number }): number {
  const minorMillions = tokens.input * prices.inputMinorPerMillion + tokens.output * prices.outputMinorPerMillion;
  return Math.ceil((minorMillions * microsPerMinor) / tokensPerMillion);
}

/** Rounded up: a budget is never overspent by rounding. */
export function minorOf(micros: number): number {
  return Math.ceil(micros / microsPerMinor);
}

export function budgetMicros(monthlyLlmBudget: number): number {
  return Math.round(monthlyLlmBudget * 100) * microsPerMinor;
}

/** One token is at least two bytes of text on average in every tokenizer in use, so this never guesses too low by much. */
const bytesPerToken = 2;

/** The most that a call can cost: reserved before it is made. */
export function worstCaseMicros(prices: ModelPrices, request: { bytes: number; outputTokensMax: number }): number {
  return costMicros(prices, { input: Math.ceil(request.bytes / bytesPerToken), output: request.outputTokensMax });
}

/** The month in UTC, `YYYY-MM`. */
export function monthOf(at: Date): string {
  return at.toISOString().slice(0, 7);
}
