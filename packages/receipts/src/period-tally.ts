import type { Digest } from '@countersign/contracts';
import type { PeriodSession, PeriodStatement } from '@countersign/contracts/governance-kernel';
import {
  appendLeaf,
  canonicalBytes,
  emptyFrontier,
  encodeHex,
  frontierRoot,
  leafHash,
  type CryptoProvider,
  type Frontier,
} from '@countersign/crypto';

/** The running tally of a period. It has at most 53 hashes, for any number of sessions. */
type PeriodTally = { readonly receipts: number; readonly sessions: Frontier };

export const emptyTally: PeriodTally = { receipts: 0, sessions: emptyFrontier };

/**
 * Adds one session with its receipts in the period. The entry of its leaf is the canonical JSON of the session's four
 * members below.
 */
export function tallied(provider: CryptoProvider, tally: PeriodTally, session: PeriodSession): PeriodTally {
  const { session_id, first, last, receipt_hash } = session;
  const leaf = leafHash(provider, canonicalBytes({ session_id, first, last, receipt_hash }));
  return {
    receipts: tally.receipts + last - first + 1,
    sessions: appendLeaf(provider, tally.sessions, leaf).frontier,
  };
}

/** The tally as members of a statement. */
export function tallyOf(
  provider: CryptoProvider,
  { receipts, sessions }: PeriodTally,
): Pick<PeriodStatement, 'sessions' | 'receipts' | 'sessions_root'> {
  const root = encodeHex(frontierRoot(provider, sessions));
  return { sessions: sessions.size, receipts, sessions_root: `sha256:${root}` as Digest }; // the format of Digest
}
