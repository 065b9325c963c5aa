import { z } from 'zod';
import type { ModelFacts } from './model-facts.ts';

/**
 * Prices are exact in millionths, so a cost in millionths of a minor unit is exact for whole prices and rounded once
 * for others.
 */
const pricePartsPerMinor = 1_000_000;
const TokensMax = z.int().min(1).max(100_000_000);
/**
 * Ten thousand major units for a million tokens: above the price of any model, and low enough that amounts stay exact.
 */
const priceMinorMax = 1_000_000;

const PerMillionMinor = z
  .number()
  .min(0)
  .max(priceMinorMax)
  .refine((price) => Math.abs(price * pricePartsPerMinor - Math.round(price * pricePartsPerMinor)) < 1e-3, {
    error: 'must have at most six decimals',
  });

const Price = z.strictObject({
  input_per_million_minor: PerMillionMinor,
  output_per_million_minor: PerMillionMinor,
  /** The most tokens that the model generates by default. */
  output_tokens_max: TokensMax,
  /**
   * The most tokens that the model reads. They bound the cost of messages with more than text. Without this value, that
   * cost is unbounded.
   */
  input_tokens_max: TokensMax.optional(),
});
type Price = z.infer<typeof Price>;

/** The prices by the name of the model. `*` applies to every model without a price of its own. */
const Prices = z.record(z.string(), Price);
export type ModelPrices = z.infer<typeof Prices>;

/** Parses GOV_MODEL_PRICES. Throws when it is not a price table. */
export function readModelPrices(text: string): ModelPrices {
  return Prices.parse(JSON.parse(text));
}

type Priced = Pick<ModelFacts, 'model' | 'priced_apart'>;

/** The token price of a call. `null` when it is unknown, or when the call has other costs. */
export function findPrice(prices: ModelPrices, { model, priced_apart: pricedApart }: Priced): Price | null {
  if (pricedApart.length > 0) return null;
  const name = Object.hasOwn(prices, model) ? model : '*';
  return (Object.hasOwn(prices, name) ? prices[name] : undefined) ?? null;
}

export type Usage = { promptTokens: number; completionTokens: number };

/**
 * The maximum cost of a call in millionths of a minor unit, which is reserved before the call. `null` when it is
 * unbounded: without a price, and for content other than text without `input_tokens_max`. The bytes of an image, file
 * or sound do not determine its tokens.
 */
export function worstCaseMicros(
  price: Price | null,
  call: Pick<ModelFacts, 'body_bytes' | 'content_types' | 'max_tokens' | 'n'>,
): bigint | null {
  if (price === null) return null;
  const holdsTextAlone = call.content_types.every((type) => textTypes.has(type));
  // A text token has at least one byte, so this never reserves too little. Most have about four.
  const promptTokens = holdsTextAlone ? call.body_bytes : price.input_tokens_max;
  if (promptTokens === undefined) return null;
  const completionTokens = (call.max_tokens ?? price.output_tokens_max) * call.n;
  return costMicros(price, { promptTokens, completionTokens });
}

const textTypes: ReadonlySet<string> = new Set(['text', 'refusal']);

/**
 * The actual cost of a call in millionths of a minor unit, rounded up. At a price of one minor unit per million tokens,
 * a token costs one millionth.
 */
export function costMicros(price: Price, usage: Usage): bigint {
  const deps =
    BigInt(usage.promptTokens) * partsOf(price.input_per_million_minor) +
    BigInt(usage.completionTokens) * partsOf(price.output_per_million_minor);
  const whole = BigInt(pricePartsPerMinor);
  return (deps + whole - 1n) / whole;
}

function partsOf(price: number): bigint {
  return BigInt(Math.round(price * pricePartsPerMinor));
}
