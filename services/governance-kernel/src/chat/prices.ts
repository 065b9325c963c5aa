import { z } from 'zod';
import type { ModelFacts } from './model-facts.ts';

/** Exact in millionths, so that a cost in millionths of a minor unit is exact for whole prices and rounded once for others. */
const pricePartsPerMinor = 1_000_000;
const TokensMax = z.int().min(1).max(100_000_000);
/** Ten thousand major units for a million tokens: dearer than any model, and low enough that amounts stay countable. */
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
  /** The most tokens that the model answers by default. */
  output_tokens_max: TokensMax,
  /** The most that the model reads: what messages cost at most that hold more than text. Without it nothing bounds those. */
  input_tokens_max: TokensMax.optional(),
});
type Price = z.infer<typeof Price>;

/** The prices by the name of the model; `*` is for every model without a price of its own. */
const Prices = z.record(z.string(), Price);
export type ModelPrices = z.infer<typeof Prices>;

/** GOV_MODEL_PRICES. Throws when it is not a price table. */
export function readModelPrices(text: string): ModelPrices {
  return Prices.parse(JSON.parse(text));
}

type Priced = Pick<ModelFacts, 'model' | 'priced_apart'>;

/** The price of a call's tokens, or `null` when it is unknown, or when not all of the call is tokens of that price. */
export function findPrice(prices: ModelPrices, { model, priced_apart: pricedApart }: Priced): Price | null {
  if (pricedApart.length > 0) return null;
  const name = Object.hasOwn(prices, model) ? model : '*';
  return (Object.hasOwn(prices, name) ? prices[name] : undefined) ?? null;
}

export type Usage = { promptTokens: number; completionTokens: number };

/**
 * The most that a call may cost, in millionths of a minor unit: what is reserved before it. `null` when it has no
 * bound. There is none without a price. Images, files and sounds for a model without a configured largest input have
 * none either, since their bytes do not determine their tokens.
 */
export function worstCaseMicros(
  price: Price | null,
  call: Pick<ModelFacts, 'body_bytes' | 'content_types' | 'max_tokens' | 'n'>,
): bigint | null {
  if (price === null) return null;
  const holdsTextAlone = call.content_types.every((type) => textTypes.has(type));
  // A token of text has no less than one byte, so this never reserves too little; most have about four.
  const promptTokens = holdsTextAlone ? call.body_bytes : price.input_tokens_max;
  if (promptTokens === undefined) return null;
  const completionTokens = (call.max_tokens ?? price.output_tokens_max) * call.n;
  return costMicros(price, { promptTokens, completionTokens });
}

const textTypes: ReadonlySet<string> = new Set(['text', 'refusal']);

/** The actual cost of a call. A price of a minor unit for a million tokens is one millionth of it for each. */
export function costMicros(price: Price, usage: Usage): bigint {
  const parts =
    BigInt(usage.promptTokens) * partsOf(price.input_per_million_minor) +
    BigInt(usage.completionTokens) * partsOf(price.output_per_million_minor);
  const whole = BigInt(pricePartsPerMinor);
  return (parts + whole - 1n) / whole;
}

function partsOf(price: number): bigint {
  return BigInt(Math.round(price * pricePartsPerMinor));
}
