/** How often an approved call may run: `once`, `uses:n`; `session` and `until` hold as long as the approval itself does. */
export function usesOf(scope: string): number {
  const counted = /^uses:(\d+)$/.exec(scope);
  if (counted) return Number(counted[1]);
  return scope === 'once' ? 1 : usesUnlimited;
}

/** Greater than any number of calls that fits into the life of an approval. */
const usesUnlimited = 1_000_000;
