import { AppError, type Digest, type WorkspaceId } from '@countersign/contracts';
import { createReplay, type Replay } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleOnce } from '../../handle-once.ts';
import { newReplayId } from '../../ids.ts';
import { parseDraft } from '../../policy/parse-draft.ts';
import { tenantOf } from '../../siblings/tenant-of.ts';
import { findDraft } from '../../store/policy-drafts.ts';
import { findReplay, insertReplay } from '../../store/replays.ts';

export const createReplayRoute = (context: Context) =>
  handleOnce(context)(createReplay)(async ({ body, caller: { workspaceId, userId } }, once) => {
    const { policy, session_id = null, from = null, to = null, limit } = body;
    const draft = policy === 'draft' ? await getCompiledDraft(context, workspaceId) : null;
    const under = { policy, policy_hash: draft?.policyHash ?? null };
    const question = { tenant_id: tenantOf(workspaceId), ...under, session_id, from, to, limit };
    const id = newReplayId();
    const replay = await once(show)(async (tx) => {
      const input = { askedBy: userId, createdAt: context.now() };
      await insertReplay(tx, { id, workspaceId, question, bundle: draft?.bundle ?? null, ...input });
      const written = await findReplay(tx, workspaceId, id);
      if (written === null) throw new Error('The replay is missing after it was written');
      return written;
    });
    return show(replay);
  });

const show = (body: Replay) => ({ status: createReplay.status, body });

type Draft = { policyHash: Digest; bundle: string };

async function getCompiledDraft({ database }: Context, workspaceId: WorkspaceId): Promise<Draft> {
  const draft = await findDraft(database.reader, workspaceId);
  const policyHash = draft?.policy_hash ?? null;
  if (draft === null || policyHash === null)
    throw new AppError('ILLEGAL_TRANSITION', 'The workspace has no compiled draft. Compile the draft first', {
      param: 'policy',
    });
  return { policyHash, bundle: JSON.stringify(parseDraft(draft.text)) };
}
