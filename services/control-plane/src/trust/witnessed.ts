import type { WorkspaceId } from '@countersign/contracts';
import { listLedgerEntries, type StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { TrustedKeys } from '@countersign/verifier';
import type { Context } from '../context.ts';
import { tenantOf } from '../siblings/tenant-of.ts';
import { answerOf } from '../siblings/answer-of.ts';
import type { Witnessed } from './check-receipt.ts';

/**
 * Adds to a receipt the checkpoint that covered it before its key was revoked. Only receipts of revoked keys need a
 * query of the log. Throws GOVERNANCE_UNAVAILABLE.
 */
export async function witnessed(
  { kernel }: Pick<Context, 'kernel'>,
  receipt: StoredReceipt,
  { keys, workspaceId }: { keys: TrustedKeys; workspaceId: WorkspaceId },
): Promise<Witnessed> {
  const key = keys.find(({ key_id }) => key_id === receipt.signature.key_id);
  if (key?.revoked_at === undefined) return { receipt, witness: null };
  const client = kernel.own({ listLedgerEntries });
  const place = { params: { tenant: tenantOf(workspaceId) }, query: { from: receipt.log_index, limit: 1 } };
  const [entry] = (await answerOf('kernel', () => client.listLedgerEntries(place))).data;
  return { receipt, witness: entry?.receipt.receipt_hash === receipt.receipt_hash ? entry.witness : null };
}
