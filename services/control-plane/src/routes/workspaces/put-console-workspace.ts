import { putConsoleWorkspace } from '@countersign/contracts/control-plane';
import { putWorkspace } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { setPublicProof } from '../../orgs/set-public-proof.ts';
import { parseWorkspaceTag, staleWorkspace, workspaceTag } from '../../orgs/workspace-tag.ts';
import { workspaceView } from '../../orgs/workspace-view.ts';
import { taggedAnswerOf } from '../../siblings/answer-of.ts';
import { findOrgOfWorkspace } from '../../store/orgs.ts';
import { findPublicProof } from '../../store/public-proofs.ts';

/**
 * The gateway compares its part of the tag in the transaction that renames. The rest of the tag is compared here before
 * the renaming, and again in the transaction that changes that rest.
 */
export const putConsoleWorkspaceRoute = (context: Context) =>
  handleWorkspace(putConsoleWorkspace)(async ({ body, caller, req, requestId, setHeader }) => {
    const { workspaceId: id, role, delegation } = caller;
    const { name, public_proof: wanted } = body;
    const seen = parseWorkspaceTag(req.headers['if-match']);
    const { reader } = context.database;
    if ((await findPublicProof(reader, id)) !== seen.publicProof) throw staleWorkspace();
    const asPerson = context.gateway.as(delegation, { putWorkspace });
    const { body: renamed, etag } = await taggedAnswerOf('gateway', () =>
      asPerson.putWorkspace({ params: { id }, body: { name }, headers: { 'if-match': seen.etag } }),
    );
    const publicProof = wanted ?? seen.publicProof;
    if (wanted !== undefined)
      await setPublicProof(context, { from: seen.publicProof, to: wanted }, { caller, requestId });
    const org = await findOrgOfWorkspace(reader, id);
    setHeader('ETag', workspaceTag({ etag, publicProof }));
    return workspaceView(renamed, { orgId: org?.id ?? null, role, publicProof });
  });
