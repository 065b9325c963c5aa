import type { PublicProof } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { recordAudit } from '../store/audit.ts';
import { lockPublicProof, writePublicProof } from '../store/public-proofs.ts';
import { staleWorkspace } from './workspace-tag.ts';

type Change = { from: PublicProof; to: PublicProof };
type By = { caller: WorkspaceCaller; requestId: string };

/**
 * Turns public proof of a workspace on or off, from the next request on, with an audit entry. Throws
 * PRECONDITION_FAILED.
 */
export async function setPublicProof(
  { transaction, now }: Pick<Context, 'transaction' | 'now'>,
  { from, to }: Change,
  { caller: { workspaceId, userId }, requestId }: By,
): Promise<void> {
  await transaction(async (tx) => {
    const at = now();
    if ((await lockPublicProof(tx, workspaceId, at)) !== from) throw staleWorkspace();
    if (from === to) return;
    await writePublicProof(tx, { workspaceId, setting: to }, at);
    const act = { action: 'evidence.public_proof_set', actor: userId, verdict: 'allow', requestId } as const;
    const details = { before: from, public_proof: to };
    await recordAudit(tx, { scope: workspaceId, ...act, subject: workspaceId, details }, at);
  });
}
