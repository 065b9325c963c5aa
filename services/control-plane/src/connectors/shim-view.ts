import { instantOrNull, instantOf, type ReceiptId } from '@countersign/contracts';
import type { Shim } from '@countersign/contracts/control-plane';
import { listReceipts, listRecords } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';
import type { StoredShim } from '../store/connector-shims.ts';

type Basis = { connectorId: string; receiptId: ReceiptId | null };

export function shimView(shim: StoredShim, { connectorId, receiptId }: Basis): Shim {
  const live = receiptId === null ? 'issued' : 'active';
  return {
    shim_id: shim.id,
    install_id: shim.installId,
    connector_id: connectorId,
    client: shim.client,
    state: shim.revokedAt === null ? live : 'revoked',
    principal_id: shim.principal,
    key_id: shim.keyId,
    receipt_id: receiptId,
    created_by: shim.createdBy,
    created_at: instantOf(shim.createdAt),
    expires_at: instantOf(shim.expiresAt),
    revoked_by: shim.revokedBy,
    revoked_at: instantOrNull(shim.revokedAt),
  };
}

/**
 * The number of the principal's newest receipts that are searched for the key. Other credentials may have the same
 * principal.
 */
const receiptsRead = 5;

/**
 * The newest sealed call with the key of this shim. `null` when none of the principal's newest receipts has this key.
 * The principal's calls with other credentials do not count.
 */
export async function sealedCallOf(
  { kernel }: Pick<Context, 'kernel'>,
  { principal, keyId }: StoredShim,
  { assertion }: WorkspaceCaller,
): Promise<ReceiptId | null> {
  if (keyId === null) return null;
  const client = kernel.as(assertion, { listReceipts, listRecords });
  const query = { agent: principal, limit: receiptsRead };
  const { data } = await answerOf('kernel', () => client.listReceipts({ query }));
  for (const { payload } of data) {
    const { receipt_id } = payload;
    const records = await answerOf('kernel', () => client.listRecords({ query: { receipt_id, limit: 1 } }));
    if (records.data.some((record) => record.identity?.credential_id === keyId)) return receipt_id;
  }
  return null;
}
