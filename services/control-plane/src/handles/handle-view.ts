import { EvidenceHandle } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import type { StoredHandle } from '../store/evidence-handles.ts';

export function handleView({ config }: Pick<Context, 'config'>, stored: StoredHandle): EvidenceHandle {
  const { id, kind, shown, receiptId, createdBy, createdAt, expiresAt } = stored;
  return EvidenceHandle.parse({
    ...{ handle: id, kind, shown },
    public: receiptId !== null,
    url: receiptId === null ? null : `${config.consoleUrl}/console/p/${id}`,
    created_by: createdBy,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
    receipt_id: receiptId,
  });
}
