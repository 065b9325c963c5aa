import { z } from 'zod';

const Price = z.strictObject({
  input_per_million_minor: z.number().min(0),
  output_per_million_minor: z.number().min(0),
});
const Prices = z.record(z.string(), Price);
export type ModelPrices = z.infer<typeof Prices>;

/** What an answer may cost when the caller set no ceiling: the usual default of hosted models. */
const outputTokensDefault = 4_096;
/** A token has no less than one byte, so this never reserves too little; texts have about four. */
const bytesPerToken = 1;
const million = 1_000_000;

/** GOV_MODEL_PRICES. Throws when it is not a price table. */
export function readModelPrices(text: string): ModelPrices {
  return Prices.parse(JSON.parse(text));
}

export type Usage = { promptTokens: number; completionTokens: number };

/** The most that a call may cost: what is reserved before it. 0 for a model without a price. */
export function reservedMinor(
  prices: ModelPrices,
  call: { model: string; bodyBytes: number; maxTokens: number | null; n: number },
): number {
  const completionTokens = (call.maxTokens ?? outputTokensDefault) * call.n;
  return costMinor(prices, call.model, { promptTokens: Math.ceil(call.bodyBytes / bytesPerToken), completionTokens });
}

/** What a call did cost, rounded up to whole minor units. */
export function costMinor(prices: ModelPrices, model: string, usage: Usage): number {
  const price = Object.hasOwn(prices, model) ? prices[model] : undefined;
  if (price === undefined) return 0;
  const exact =
    usage.promptTokens * price.input_per_million_minor + usage.completionTokens * price.output_per_million_minor;
  return Math.ceil(exact / million);
}
