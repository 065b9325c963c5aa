import type { TrustList } from '@countersign/contracts/governance-kernel';
import { isSameKey } from './trust-of.ts';
import type { TrustedKey } from './trusted-keys.ts';
import { VerificationError } from './verification-error.ts';

/** How long a key may still sign after its successor began: what the clocks of two kernels differ by, twice on both sides. */
export const overlapMsMax = 80_000;
/** A key may begin this long before its list is signed, as kernels date their own keys. */
const datedBackMsMax = 40_000;

/** Throws `MALFORMED` where a key outlives the begin of its successor: one of the same purpose and log that began later. */
export function assertSuccession(keys: readonly TrustedKey[]): void {
  const lines = new Map<string, TrustedKey[]>();
  for (const key of keys) {
    assertForwards(key);
    const line = `${key.purpose} ${key.log_origin ?? ''}`;
    lines.set(line, [...(lines.get(line) ?? []), key]);
  }
  for (const line of lines.values()) {
    const ordered = line.sort((left, right) => Date.parse(left.valid_from) - Date.parse(right.valid_from));
    ordered.slice(0, -1).forEach((key, index) => {
      const successor = ordered[index + 1];
      if (successor !== undefined && !(endMs(key) <= Date.parse(successor.valid_from) + overlapMsMax))
        throw malformed(`key ${key.key_id} does not end where ${successor.key_id} begins`);
    });
  }
}

type Version = { list: TrustList; hash: string; keys: readonly TrustedKey[] };

/** Throws `MALFORMED` where a list is not the version after another one. */
export function assertFollows(next: Version, previous: Version | null): void {
  if (next.list.version !== (previous?.list.version ?? 0) + 1)
    throw malformed(`version ${next.list.version} does not follow version ${previous?.list.version ?? 0}`);
  if (next.list.previous_hash !== (previous?.hash ?? null)) throw malformed('it follows another list');
  if (previous === null) return;
  if (Date.parse(next.list.issued_at) < Date.parse(previous.list.issued_at))
    throw malformed('it was issued before its predecessor');
  for (const key of previous.keys) assertKept(key, next.keys);
  const known = new Set(previous.keys.map(({ key_id: id }) => id));
  for (const key of next.keys) if (!known.has(key.key_id)) assertNew(key, next.list);
}

/** An end or a revocation may come, or come earlier: a later look may find an earlier theft. Neither is taken back. */
function assertKept(key: TrustedKey, keys: readonly TrustedKey[]): void {
  const kept = keys.find((other) => isSameKey(key, other) && key.valid_from === other.valid_from);
  if (kept === undefined) throw malformed(`key ${key.key_id} is gone, or another one has its name`);
  if (isLater(kept.valid_until, key.valid_until)) throw malformed(`key ${key.key_id} has a later end than before`);
  if (isLater(kept.revoked_at, key.revoked_at)) throw malformed(`key ${key.key_id} has a later revocation than before`);
}

/** With an earlier begin, its owner could date receipts back. */
function assertNew(key: TrustedKey, { issued_at: issuedAt }: TrustList): void {
  if (!(Date.parse(key.valid_from) >= Date.parse(issuedAt) - datedBackMsMax))
    throw malformed(`key ${key.key_id} begins before its list was issued`);
}

function assertForwards(key: TrustedKey): void {
  if (key.valid_until !== undefined && !(Date.parse(key.valid_until) >= Date.parse(key.valid_from)))
    throw malformed(`key ${key.key_id} ends before it begins`);
}

function endMs({ valid_until: until, revoked_at: revoked }: TrustedKey): number {
  return Math.min(...[until, revoked].map((at) => (at === undefined ? Infinity : Date.parse(at))));
}

function isLater(now: string | undefined, before: string | undefined): boolean {
  if (before === undefined) return false;
  return now === undefined || Date.parse(now) > Date.parse(before);
}

function malformed(message: string): VerificationError {
  return new VerificationError('MALFORMED', `trust list: ${message}`);
}
