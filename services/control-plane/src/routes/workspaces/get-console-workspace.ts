import { getConsoleWorkspace } from '@countersign/contracts/control-plane';
import { getWorkspace } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleKeyed } from '../../handle.ts';
import { workspaceTag } from '../../orgs/workspace-tag.ts';
import { workspaceView } from '../../orgs/workspace-view.ts';
import { taggedAnswerOf } from '../../siblings/answer-of.ts';
import { findOrgOfWorkspace } from '../../store/orgs.ts';
import { findPublicProof } from '../../store/public-proofs.ts';

export const getConsoleWorkspaceRoute = ({ gateway, database }: Context) =>
  handleKeyed(getConsoleWorkspace)(async ({ caller, signal, setHeader }) => {
    const { workspaceId: id, role, delegation } = caller;
    const asPerson = gateway.as(delegation, { getWorkspace });
    const { body, etag } = await taggedAnswerOf('gateway', () => asPerson.getWorkspace({ params: { id }, signal }));
    const org = await findOrgOfWorkspace(database.reader, id);
    const publicProof = await findPublicProof(database.reader, id);
    setHeader('ETag', workspaceTag({ etag, publicProof }));
    return workspaceView(body, { orgId: org?.id ?? null, role, publicProof });
  });
