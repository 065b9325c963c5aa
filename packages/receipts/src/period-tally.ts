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

/** The tally of a period so far, in the same few bytes at any size. */
type PeriodTally = { readonly receipts: number; readonly sessions: Frontier };

export const emptyTally: PeriodTally = { receipts: 0, sessions: emptyFrontier };

/** Counts one session with its part of the period. Its leaf is the canonical JSON of these four members. */
export function tallied(provider: CryptoProvider, tally: PeriodTally, session: PeriodSession): PeriodTally {
  const { session_id, first, last, receipt_hash } = session;
  const leaf = leafHash(provider, canonicalBytes({ session_id, first, last, receipt_hash }));
  return {
    receipts: tally.receipts + last - first + 1,
    sessions: appendLeaf(provider, tally.sessions, leaf).frontier,
  };
}

/** The members of a statement for the whole tally. */
export function tallyOf(
  provider: CryptoProvider,
  { receipts, sessions }: PeriodTally,
): Pick<PeriodStatement, 'sessions' | 'receipts' | 'sessions_root'> {
  const root = encodeHex(frontierRoot(provider, sessions));
  return { sessions: sessions.size, receipts, sessions_root: `sha256:${root}` as Digest }; // the form that Digest describes
}
