import type { ChatCompletionRequest } from '@countersign/contracts/governance-kernel';

/** The maximum cost of these follows from the price table: a token for each byte, or as many as the model reads. */
const countedContent: ReadonlySet<string> = new Set(['text', 'refusal', 'image_url', 'file']);
/** The tier that the account has anyway, and one that is cheaper. */
const countedTiers: ReadonlySet<unknown> = new Set([undefined, null, 'auto', 'default', 'flex']);

/**
 * The parts of a call with a price outside the price table: with any of them the maximum cost of the call is unknown.
 * `asked`: members that are known to have one, and all unknown members.
 */
export function pricedApart(
  { service_tier, modalities }: ChatCompletionRequest,
  asked: readonly string[],
  contentTypes: readonly string[],
): string[] {
  const names = [
    ...asked,
    ...contentTypes.filter((type) => !countedContent.has(type)),
    ...(countedTiers.has(service_tier) ? [] : ['service_tier']),
    ...(saysText(modalities) ? [] : ['modalities']),
  ];
  return [...new Set(names)].sort();
}

function saysText(modalities: unknown): boolean {
  if (modalities === undefined || modalities === null) return true;
  return Array.isArray(modalities) && modalities.every((modality) => modality === 'text');
}
