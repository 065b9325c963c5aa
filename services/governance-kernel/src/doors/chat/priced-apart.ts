import type { ChatCompletionRequest } from '@countersign/contracts/governance-kernel';

/**
 * Content whose maximum cost follows from the price table. Text counts one token for each byte. Any other content
 * counts the most tokens that the model reads.
 */
const countedContent: ReadonlySet<string> = new Set(['text', 'refusal', 'image_url', 'file']);
/** The service tiers that cost no more than the price table: the account's default tier, and a cheaper one. */
const countedTiers: ReadonlySet<unknown> = new Set([undefined, null, 'auto', 'default', 'flex']);

/**
 * The parts of a call with a price outside the price table. With any of them the maximum cost of the call is unknown.
 * `members`: members that are known to have such a price, and all unknown members.
 */
export function pricedApart(
  { service_tier, modalities }: ChatCompletionRequest,
  members: readonly string[],
  contentTypes: readonly string[],
): string[] {
  const names = [
    ...members,
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
