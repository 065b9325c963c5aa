import type { BoundaryRecord, Checkpoint, StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import {
  assertRecordHash,
  VerificationError,
  verifyChain,
  verifyInclusion,
  verifyReceipt,
  verifyRecord,
  type TrustedKeys,
} from '@countersign/verifier';
import type { Neighbours } from '../../store/record-store.ts';
import { check, type Check } from './check.ts';
import { regardlessOfRevocation } from './trusted-keys.ts';

/** The stored evidence of one record. None of it is trusted here. */
type RecordEvidence = {
  record: BoundaryRecord;
  receipt: StoredReceipt;
  neighbours: Neighbours;
  checkpoint: Checkpoint;
  /** The inclusion proof in base64, from the leaf's sibling upwards. `null` when the log could not be read. */
  path: string[] | null;
};

type RecordTrust = { trust: TrustedKeys; provider: CryptoProvider; origin: string };

/**
 * All checks of a record that need no other service, in this order. Only `inclusion` considers revocations, since the
 * log determines whether the key was revoked before it signed.
 */
export function verifySealedRecord(evidence: RecordEvidence, trust: RecordTrust): Check[] {
  const { record, receipt } = evidence;
  const { provider } = trust;
  return [
    check('record_hash', () => assertRecordHash(record, provider)),
    check('record_names_receipt', () => assertSame(record.receipt_id, receipt.payload.receipt_id)),
    check('receipt_names_record', () => assertSame(receipt.payload.record_hash, record.record_hash)),
    check('same_statement', () => void verifyRecord(record, receipt, provider)),
    check('signature', () => void verifyReceipt(receipt, regardlessOfRevocation(trust.trust), provider)),
    check('chain_previous', () => assertPrevious(evidence, trust)),
    check('chain_next', () => assertNext(evidence, trust)),
    check('inclusion', () => assertIncluded(evidence, trust)),
  ];
}

function assertSame(left: string, right: string): void {
  if (left !== right) throw new VerificationError('LINK_MISMATCH', 'record and receipt do not point at each other');
}

function assertPrevious({ receipt, neighbours: { previous } }: RecordEvidence, trust: RecordTrust): void {
  const isFirst = receipt.payload.lamport_clock === 1;
  if (!isFirst && previous === null)
    throw new VerificationError('CHAIN_GAP', 'the predecessor in the chain is missing');
  assertChain(previous === null ? [receipt] : [previous, receipt], { ...trust, partial: !isFirst });
}

/** The last receipt of a chain must be the one in the chain's head, or the end of the chain was cut off. */
function assertNext({ receipt, neighbours: { next, headHash } }: RecordEvidence, trust: RecordTrust): void {
  if (next !== null) assertChain([receipt, next], { ...trust, partial: true });
  else if (headHash !== receipt.receipt_hash)
    throw new VerificationError('CHAIN_GAP', 'the successor in the chain is missing');
}

/** Throws if the receipts break their chain, or if they belong to two chains. */
function assertChain(receipts: StoredReceipt[], options: Parameters<typeof verifyChain>[1]): void {
  const { first_broken, chains } = verifyChain(receipts, {
    ...options,
    trust: regardlessOfRevocation(options.trust),
  });
  if (first_broken !== undefined) throw new VerificationError(first_broken.code, first_broken.message);
  if (chains.length > 1) throw new VerificationError('CHAIN_GAP', 'the neighbour is of another chain');
}

function assertIncluded({ receipt, checkpoint, path }: RecordEvidence, trust: RecordTrust): void {
  if (path === null) throw new VerificationError('INCLUSION_UNPROVEN', 'the log lacks leaves');
  verifyInclusion({
    receipt,
    proof: { log_index: receipt.log_index, tree_size: checkpoint.tree_size, hashes: path },
    checkpoint: checkpoint.note,
    ...trust,
  });
}
