/** The number of uses of an approved call: `once` or `uses:n`. `session` and `until` last as long as the approval. */
export function usesOf(scope: string): number {
  const counted = /^uses:(\d+)$/.exec(scope);
  if (counted) return Number(counted[1]);
  return scope === 'once' ? 1 : usesUnlimited;
}

/** Greater than any number of calls within the life of an approval. */
const usesUnlimited = 1_000_000;
