import { ReceiptId, type ApprovalId } from '@countersign/contracts';
import { proposeChange } from '../changes/propose-change.ts';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { newHandleId } from '../ids.ts';
import { recordAudit } from '../store/audit.ts';
import { insertHandle, type Shown, type StoredHandle } from '../store/evidence-handles.ts';
import { getShownApproval } from './shown-approval.ts';
import { getShownReceipt } from './shown-receipt.ts';

type Asked = { object_id: ReceiptId | ApprovalId; public: boolean; expires_in_seconds: number };
type By = { caller: WorkspaceCaller; requestId: string };

/**
 * Makes a handle with its audit entry. What is to be public is decided by the kernel first; whoever asks again after an approval, or after a
 * crash, is decided about again, and until the row stands nothing is public. Throws NOT_FOUND, ILLEGAL_TRANSITION for what does not verify,
 * POLICY_DENIED, APPROVAL_NEEDED and GOVERNANCE_UNAVAILABLE.
 */
export async function makeHandle(context: Context, asked: Asked, { caller, requestId }: By): Promise<StoredHandle> {
  const { workspaceId, userId: createdBy } = caller;
  const id = newHandleId();
  const shown = await getShown(context, asked.object_id, caller);
  const seconds = asked.expires_in_seconds;
  const receiptId = asked.public ? await allowedBy(context, { shown, seconds, key: id }, caller) : null;
  const createdAt = context.now();
  const expiresAt = new Date(createdAt.getTime() + seconds * 1_000);
  const handle: StoredHandle = { ...shown, id, workspaceId, receiptId, createdBy, createdAt, expiresAt };
  await context.transaction(async (tx) => {
    await insertHandle(tx, handle);
    const action = asked.public ? 'evidence.published' : 'evidence.handle_made';
    // Not the handle itself: who reads the log could open what it names.
    const details = { kind: shown.kind, expires_at: expiresAt.toISOString(), receipt_id: receiptId };
    const act = { action, actor: createdBy, verdict: 'allow', subject: asked.object_id, details, requestId } as const;
    await recordAudit(tx, { scope: workspaceId, ...act }, createdAt);
  });
  return handle;
}

async function getShown(context: Context, objectId: Asked['object_id'], caller: WorkspaceCaller): Promise<Shown> {
  const receiptId = ReceiptId.safeParse(objectId);
  if (receiptId.success) return { kind: 'receipt', shown: await getShownReceipt(context, receiptId.data, caller) };
  return { kind: 'approval', shown: await getShownApproval(context, objectId as ApprovalId, caller) }; // the contract takes no third
}

type Change = { shown: Shown; seconds: number; key: string };

/** The decision is about exactly what becomes public, by its hash, and for how long. */
async function allowedBy(context: Context, { shown, seconds, key }: Change, caller: WorkspaceCaller) {
  const { receipt_id } = await proposeChange(
    context,
    {
      ...({ action: 'evidence.publish', object: 'evidence', effectLevel: 'E3' } as const),
      resource: `${resourceOf(shown)}&seconds=${seconds}`,
      key,
    },
    caller,
  );
  return receipt_id;
}

function resourceOf({ kind, shown }: Shown): string {
  if (kind === 'receipt') return `receipt/${shown.receipt_id}?hash=${shown.receipt_hash}`;
  return `approval/${shown.approval_id}?hash=${shown.ceremony_hash}`;
}
