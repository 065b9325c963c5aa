import { ChainExport } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { parseUntrusted } from './parse-untrusted.ts';
import { VerificationError } from './verification-error.ts';
import type { VerificationErrorCode } from './verification-error.ts';
import { verifyChain } from './verify-chain.ts';
import type { ChainOptions, ChainReport } from './verify-chain.ts';
import { assertIncluded, verifyCheckpoint } from './verify-log.ts';
import { verifyReceipt } from './verify-receipt.ts';
import { verifyRecord } from './verify-record.ts';

export type ExportReport = {
  verdict: 'VERIFIED' | 'NOT_VERIFIED';
  code?: VerificationErrorCode;
  message?: string;
  receipts: number;
  records: number;
  proofs: number;
  chains: ChainReport['chains'];
  first_broken?: NonNullable<ChainReport['first_broken']>;
};

type Counts = Pick<ExportReport, 'receipts' | 'records' | 'proofs' | 'chains'>;

/**
 * Verifies a chain export: all chains, every record against its receipt, every proof against the checkpoint. Never throws
 * for what the export holds. VERIFIED speaks of what is in the export; see `chains[].start` and `end` for what may be missing.
 */
export function verifyExport(value: unknown, options: ChainOptions & { origin?: string }): ExportReport {
  const counts: Counts = { receipts: 0, records: 0, proofs: 0, chains: [] };
  try {
    const chainExport = parseUntrusted(ChainExport, value, 'export');
    const report = verifyChain(chainExport.receipts, options);
    counts.receipts = report.receipts;
    counts.chains = report.chains;
    if (report.first_broken !== undefined) return broken(counts, report.first_broken);
    counts.records = verifyRecords(chainExport, options.provider);
    counts.proofs = verifyProofs(chainExport, options);
    return { verdict: 'VERIFIED', ...counts };
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    return { verdict: 'NOT_VERIFIED', code: error.code, message: error.message, ...counts };
  }
}

function broken(counts: Counts, first_broken: NonNullable<ChainReport['first_broken']>): ExportReport {
  const { code, message } = first_broken;
  return { verdict: 'NOT_VERIFIED', code, message, ...counts, first_broken };
}

function verifyRecords({ receipts, records }: ChainExport, provider: CryptoProvider): number {
  const byId = new Map<string, ChainExport['receipts'][number]>(
    receipts.map((receipt) => [receipt.payload.receipt_id, receipt]),
  );
  const seen = new Set<string>();
  for (const record of records) {
    if (seen.has(record.receipt_id))
      throw new VerificationError('DUPLICATE', `two records of receipt ${record.receipt_id}`);
    const receipt = byId.get(record.receipt_id);
    if (receipt === undefined)
      throw new VerificationError('LINK_MISMATCH', `record ${record.record_id} has no receipt`);
    verifyRecord(record, receipt, provider);
    seen.add(record.receipt_id);
  }
  return seen.size;
}

function verifyProofs(
  { receipts, checkpoint, proofs }: ChainExport,
  options: ChainOptions & { origin?: string },
): number {
  if (checkpoint === undefined) {
    if (proofs.length > 0) throw new VerificationError('INCLUSION_UNPROVEN', 'there are proofs and no checkpoint');
    return 0;
  }
  const opened = verifyCheckpoint(checkpoint.note, options);
  const byId = new Map<string, ChainExport['receipts'][number]>(
    receipts.map((receipt) => [receipt.payload.receipt_id, receipt]),
  );
  const seen = new Set<string>();
  for (const proof of proofs) {
    if (seen.has(proof.receipt_id))
      throw new VerificationError('DUPLICATE', `two proofs of receipt ${proof.receipt_id}`);
    const receipt = byId.get(proof.receipt_id);
    if (receipt === undefined)
      throw new VerificationError('INCLUSION_UNPROVEN', `proof of the absent receipt ${proof.receipt_id}`);
    const { receipt_hash } = verifyReceipt(receipt, options.trust, options.provider);
    assertIncluded({ receipt_hash, proof, checkpoint: opened, provider: options.provider });
    seen.add(proof.receipt_id);
  }
  return seen.size;
}
