import { EvidenceHandle, type HandleSummary } from '@countersign/contracts/control-plane';
import { Instant } from '@countersign/contracts';
import type { Context } from '../context.ts';
import type { NamedHandle, StoredHandle } from '../store/evidence-handles.ts';

export function handleView({ config }: Pick<Context, 'config'>, stored: StoredHandle): EvidenceHandle {
  const { kind, shown } = stored;
  return EvidenceHandle.parse({ kind, shown, ...namesOf({ config }, stored) });
}

export function handleSummary(
  deps: Pick<Context, 'config'>,
  { kind, objectId, ...stored }: NamedHandle,
): HandleSummary {
  return { kind, object_id: objectId, ...namesOf(deps, stored) };
}

function namesOf({ config }: Pick<Context, 'config'>, stored: Omit<NamedHandle, 'kind' | 'objectId'>) {
  const { id, receiptId, createdBy, createdAt, expiresAt } = stored;
  return {
    handle: id,
    public: receiptId !== null,
    url: receiptId === null ? null : `${config.consoleUrl}/console/p/${id}`,
    created_by: createdBy,
    created_at: Instant.parse(createdAt.toISOString()),
    expires_at: Instant.parse(expiresAt.toISOString()),
    receipt_id: receiptId,
  };
}
