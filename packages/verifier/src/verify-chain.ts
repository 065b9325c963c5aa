import type { CryptoProvider } from '@countersign/crypto';
import type { TrustedKeys } from './trusted-keys.ts';
import type { ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { VerificationError } from './verification-error.ts';
import type { VerificationErrorCode } from './verification-error.ts';
import { verifyOutcome } from './verify-outcome.ts';
import { verifyReceipt } from './verify-receipt.ts';
import type { VerifiedReceipt } from './verify-receipt.ts';

export type ChainOptions = {
  trust: TrustedKeys;
  provider: CryptoProvider;
  /** Accept chains that begin after their first receipt; their start is then reported as UNPROVEN. */
  partial?: boolean;
  /** Hashes of receipts known to be the last of their chains: the only proof against a cut-off end. */
  heads?: readonly string[];
};

/** One tenant's session. `start` and `end` say whether receipts could be missing there without a trace. */
type ChainSummary = {
  tenant_id: string;
  session_id: string;
  first: number;
  last: number;
  head: string;
  start: 'PROVEN' | 'UNPROVEN';
  end: 'PROVEN' | 'UNPROVEN';
};

export type ChainReport = {
  integrity: 'VERIFIED' | 'BROKEN';
  /** Receipts that verified, up to the first that did not. */
  receipts: number;
  chains: ChainSummary[];
  first_broken?: { index: number | null; receipt_id: string | null; code: VerificationErrorCode; message: string };
};

type Progress = {
  chains: Map<string, ChainSummary>;
  ids: Set<string>;
  receipts: number;
  decisions: Map<string, ReceiptPayload>;
  /** Receipts of decisions whose outcome was seen. */
  settled: Set<string>;
};

/**
 * Verifies every receipt and the links of each tenant and session: positions 1, 2, 3 … in this order, each naming the hash of the
 * one before, and each outcome the decision that it settles. A changed, inserted, reordered or repeated receipt breaks the chain, a removed one too, unless it was at the end:
 * that shows only against `heads`. Never throws; stops at the first fault.
 */
export function verifyChain(receipts: readonly unknown[], options: ChainOptions): ChainReport {
  const progress: Progress = {
    chains: new Map(),
    ids: new Set(),
    receipts: 0,
    decisions: new Map(),
    settled: new Set(),
  };
  let index: number | null = null;
  try {
    for (const [position, receipt] of receipts.entries()) {
      index = position;
      link(progress, verifyReceipt(receipt, options.trust, options.provider), options);
    }
    index = null;
    assertHeads(progress, options.heads ?? []);
    return { integrity: 'VERIFIED', receipts: progress.receipts, chains: summaries(progress) };
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    const receipt_id = index === null ? null : claimedId(receipts[index]);
    const first_broken = { index, receipt_id, code: error.code, message: error.message };
    return { integrity: 'BROKEN', receipts: progress.receipts, chains: summaries(progress), first_broken };
  }
}

function link(progress: Progress, { payload, receipt_hash }: VerifiedReceipt, { partial = false }: ChainOptions): void {
  const { tenant_id, session_id, receipt_id, lamport_clock, prev_hash } = payload;
  if (progress.ids.has(receipt_id)) throw new VerificationError('DUPLICATE', `receipt ${receipt_id} occurs twice`);
  const name = JSON.stringify([tenant_id, session_id]);
  const chain = progress.chains.get(name);
  if (chain === undefined) {
    assertBeginning({ lamport_clock, prev_hash, partial });
    const start = lamport_clock === 1 ? 'PROVEN' : 'UNPROVEN';
    progress.chains.set(name, {
      tenant_id,
      session_id,
      first: lamport_clock,
      last: lamport_clock,
      head: receipt_hash,
      start,
      end: 'UNPROVEN',
    });
  } else {
    assertSuccessor(chain, lamport_clock, prev_hash);
    chain.last = lamport_clock;
    chain.head = receipt_hash;
  }
  settle(progress, payload, { isWhole: progress.chains.get(name)?.first === 1 });
  progress.ids.add(receipt_id);
  progress.receipts += 1;
}

/** An outcome stands behind its decision in the same chain, once. In a part of a chain the decision may lie before the part. */
function settle(progress: Progress, payload: ReceiptPayload, { isWhole }: { isWhole: boolean }): void {
  if (payload.kind === 'decision') progress.decisions.set(payload.receipt_id, payload);
  if (payload.decision_receipt_id === undefined) return;
  if (progress.settled.has(payload.decision_receipt_id))
    throw new VerificationError('DUPLICATE', `${payload.decision_receipt_id} has two outcomes`);
  progress.settled.add(payload.decision_receipt_id);
  const decided = progress.decisions.get(payload.decision_receipt_id);
  if (decided !== undefined) verifyOutcome(payload, decided);
  else if (isWhole)
    throw new VerificationError('LINK_MISMATCH', `no decision before ${payload.receipt_id} is the one that it settles`);
}

function assertBeginning({
  lamport_clock,
  prev_hash,
  partial,
}: {
  lamport_clock: number;
  prev_hash: string | null;
  partial: boolean;
}): void {
  if (lamport_clock !== 1 && !partial)
    throw new VerificationError('CHAIN_GAP', `the chain begins at position ${lamport_clock}`);
  if ((lamport_clock === 1) !== (prev_hash === null)) {
    throw new VerificationError('PREV_HASH_MISMATCH', 'exactly the first receipt of a chain has no predecessor');
  }
}

function assertSuccessor(chain: ChainSummary, position: number, prevHash: string | null): void {
  if (position > chain.last + 1) throw new VerificationError('CHAIN_GAP', `position ${position} follows ${chain.last}`);
  if (position <= chain.last && position >= chain.first) {
    throw new VerificationError('CHAIN_FORK', `position ${position} is taken by another receipt`);
  }
  if (position < chain.first)
    throw new VerificationError('CHAIN_GAP', `position ${position} comes after ${chain.first}`);
  if (prevHash !== chain.head)
    throw new VerificationError('PREV_HASH_MISMATCH', `position ${position} names another predecessor`);
}

function assertHeads(progress: Progress, heads: readonly string[]): void {
  for (const head of heads) {
    const chain = [...progress.chains.values()].find((candidate) => candidate.head === head);
    if (chain === undefined) throw new VerificationError('CHAIN_GAP', `no chain ends with ${head}`);
    chain.end = 'PROVEN';
  }
}

function summaries({ chains }: Progress): ChainSummary[] {
  return [...chains.values()].map((chain) => ({ ...chain }));
}

function claimedId(receipt: unknown): string | null {
  if (typeof receipt !== 'object' || receipt === null || !('payload' in receipt)) return null;
  const { payload } = receipt;
  return typeof payload === 'object' && payload !== null && 'receipt_id' in payload ? String(payload.receipt_id) : null;
}
