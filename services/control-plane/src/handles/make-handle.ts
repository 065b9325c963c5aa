import { AppError, ApprovalId, ReceiptId } from '@countersign/contracts';
import { ReplayId, type NamedId, type PublicProof } from '@countersign/contracts/control-plane';
import { proposeChange } from '../changes/propose-change.ts';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { newHandleId } from '../ids.ts';
import { recordAudit } from '../store/audit.ts';
import type { TransactionFor } from '../store/database.ts';
import { insertHandle, type Shown, type StoredHandle } from '../store/evidence-handles.ts';
import { findPublicProof, lockPublicProof } from '../store/public-proofs.ts';
import { getShownApproval } from './shown-approval.ts';
import { getShownReceipt } from './shown-receipt.ts';
import { getShownReplay } from './shown-replay.ts';

type Deps = Pick<Context, 'database' | 'kernel' | 'keyRing' | 'now'>;

type Input = { object_id: NamedId; public: boolean; expires_in_seconds: number };
type By = { caller: WorkspaceCaller; requestId: string; transaction: TransactionFor<StoredHandle> };

/**
 * Makes a handle with its audit entry. The kernel decides first about each publication. A repeated request, after an
 * approval or after a crash, is decided again, and nothing is public until the row exists. Throws NOT_FOUND,
 * POLICY_DENIED, APPROVAL_NEEDED and GOVERNANCE_UNAVAILABLE. Throws ILLEGAL_TRANSITION for a receipt that does not
 * verify, for a replay without findings, and for a publication while public proof is off.
 */
export async function makeHandle(
  context: Deps,
  input: Input,
  { caller, requestId, transaction }: By,
): Promise<StoredHandle> {
  const { workspaceId, userId: createdBy } = caller;
  const id = newHandleId();
  const shown = await getShown(context, input.object_id, caller);
  if (input.public) requireOpen(await findPublicProof(context.database.reader, workspaceId));
  const seconds = input.expires_in_seconds;
  const receiptId = input.public ? await allowedBy(context, { shown, seconds, key: id }, caller) : null;
  const createdAt = context.now();
  const expiresAt = new Date(createdAt.getTime() + seconds * 1_000);
  const handle: StoredHandle = { ...shown, id, workspaceId, receiptId, createdBy, createdAt, expiresAt };
  return await transaction(async (tx) => {
    const setting = await lockPublicProof(tx, workspaceId, createdAt);
    if (input.public) requireOpen(setting);
    await insertHandle(tx, handle);
    const action = input.public ? 'evidence.published' : 'evidence.handle_made';
    // Excludes the ID of the handle, since readers of the log could open the object with it.
    const details = { kind: shown.kind, expires_at: expiresAt.toISOString(), receipt_id: receiptId };
    const act = { action, actor: createdBy, verdict: 'allow', subject: input.object_id, details, requestId } as const;
    await recordAudit(tx, { scope: workspaceId, ...act }, createdAt);
    return handle;
  });
}

/**
 * Throws while public proof is off. A publication made now would become visible, unnoticed, when public proof is turned
 * on.
 */
function requireOpen(setting: PublicProof): void {
  if (setting !== 'off') return;
  throw new AppError('ILLEGAL_TRANSITION', 'Public proof is disabled in this workspace. An owner can enable it', {
    param: 'public',
  });
}

async function getShown(context: Deps, objectId: Input['object_id'], caller: WorkspaceCaller): Promise<Shown> {
  const receiptId = ReceiptId.safeParse(objectId);
  if (receiptId.success) return { kind: 'receipt', shown: await getShownReceipt(context, receiptId.data, caller) };
  const approvalId = ApprovalId.safeParse(objectId);
  if (approvalId.success) return { kind: 'approval', shown: await getShownApproval(context, approvalId.data, caller) };
  return { kind: 'replay', shown: await getShownReplay(context, ReplayId.parse(objectId), caller) };
}

type Change = { shown: Shown; seconds: number; key: string };

/** The decision covers the published content by its hash, and the duration. */
async function allowedBy(context: Pick<Context, 'kernel'>, { shown, seconds, key }: Change, caller: WorkspaceCaller) {
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
  switch (kind) {
    case 'receipt':
      return `receipt/${shown.receipt_id}?hash=${shown.receipt_hash}`;
    case 'approval':
      return `approval/${shown.approval_id}?hash=${shown.ceremony_hash}`;
    case 'replay':
      return `replay/${shown.replay_id}?hash=${shown.replay_hash}`;
    default:
      return kind satisfies never;
  }
}
