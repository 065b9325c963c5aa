import type { TrustList } from '@countersign/contracts/governance-kernel';
import { equalBytes } from '@countersign/crypto';
import { VerificationError } from './verification-error.ts';

/** An entry of a trust list. Keys of one line, such as the receipt keys, follow each other. */
export type ListedKey = {
  key_id: string;
  line: string;
  bytes: Uint8Array;
  valid_from: string;
  valid_until?: string;
  revoked_at?: string;
  /** The first key of such a line may begin before its list, because its kernel published it before. */
  mayBeginEarlier: boolean;
};

/**
 * How long a key may sign after its successor began: twice the greatest difference between the clocks of two kernels.
 */
export const overlapMsMax = 80_000;
/** A key may begin this long before its list is signed, as kernels date their own keys. */
const datedBackMsMax = 40_000;

/**
 * Throws `MALFORMED` when a key ends before it begins, or outlives the start of its successor by more than
 * `overlapMsMax`. The successor is the next key of the same line.
 */
export function assertSuccession(keys: readonly ListedKey[]): void {
  const lines = new Map<string, ListedKey[]>();
  for (const key of keys) {
    assertForwards(key);
    lines.set(key.line, [...(lines.get(key.line) ?? []), key]);
  }
  for (const line of lines.values()) {
    const ordered = line.sort((left, right) => Date.parse(left.valid_from) - Date.parse(right.valid_from));
    ordered.slice(0, -1).forEach((key, index) => {
      const successor = ordered[index + 1];
      if (successor !== undefined && !(endMs(key) <= Date.parse(successor.valid_from) + overlapMsMax))
        throw malformed(`key ${key.key_id} must end when its successor ${successor.key_id} begins`);
    });
  }
}

type Version = { list: TrustList; hash: string; listed: readonly ListedKey[] };

/** Throws `MALFORMED` when a list does not directly follow the previous version. */
export function assertFollows(next: Version, previous: Version | null): void {
  if (next.list.version !== (previous?.list.version ?? 0) + 1)
    throw malformed(`version ${next.list.version} does not follow version ${previous?.list.version ?? 0}`);
  if (next.list.previous_hash !== (previous?.hash ?? null))
    throw malformed('its previous_hash is not the hash of the previous list');
  if (previous === null) return;
  if (Date.parse(next.list.issued_at) < Date.parse(previous.list.issued_at))
    throw malformed('it was issued before the previous list');
  for (const key of previous.listed) assertKept(key, next.listed);
  const existing = new Set(previous.listed.map(({ key_id: id }) => id));
  const lines = new Set(previous.listed.map(({ line }) => line));
  for (const key of next.listed)
    if (!existing.has(key.key_id) && (lines.has(key.line) || !key.mayBeginEarlier)) assertNew(key, next.list);
}

/**
 * An end or a revocation may be added or moved earlier, since an investigation may find an earlier theft. Neither is
 * undone.
 */
function assertKept(key: ListedKey, keys: readonly ListedKey[]): void {
  const kept = keys.find((candidate) => isSameEntry(key, candidate) && key.valid_from === candidate.valid_from);
  if (kept === undefined) throw malformed(`key ${key.key_id} was removed or changed`);
  if (isLater(kept.valid_until, key.valid_until))
    throw malformed(`key ${key.key_id} has a later end than in the previous list`);
  if (isLater(kept.revoked_at, key.revoked_at))
    throw malformed(`key ${key.key_id} has a later revocation than in the previous list`);
}

/** With an earlier start, the owner of a new key could date receipts back. */
function assertNew(key: ListedKey, { issued_at: issuedAt }: TrustList): void {
  if (!(Date.parse(key.valid_from) >= Date.parse(issuedAt) - datedBackMsMax))
    throw malformed(`key ${key.key_id} begins before its list was issued`);
}

function assertForwards(key: ListedKey): void {
  if (key.valid_until !== undefined && !(Date.parse(key.valid_until) >= Date.parse(key.valid_from)))
    throw malformed(`key ${key.key_id} ends before it begins`);
}

function isSameEntry(a: ListedKey, b: ListedKey): boolean {
  return a.key_id === b.key_id && a.line === b.line && equalBytes(a.bytes, b.bytes);
}

function endMs({ valid_until: until, revoked_at: revoked }: ListedKey): number {
  return Math.min(...[until, revoked].map((at) => (at === undefined ? Infinity : Date.parse(at))));
}

function isLater(now: string | undefined, before: string | undefined): boolean {
  if (before === undefined) return false;
  return now === undefined || Date.parse(now) > Date.parse(before);
}

function malformed(message: string): VerificationError {
  return new VerificationError('MALFORMED', `trust list: ${message}`);
}
