import { AppError } from '@countersign/contracts';
import { putConsoleWorkspace } from '@countersign/contracts/control-plane';
import { putWorkspace } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { handleWorkspace } from '../handle.ts';
import { workspaceView } from '../orgs/workspace-view.ts';
import { taggedAnswerOf } from '../siblings/answer-of.ts';
import { findOrgOfWorkspace } from '../store/orgs.ts';

/** The gateway compares the tag, in the transaction that renames. */
export const putConsoleWorkspaceRoute = ({ gateway, database }: Context) =>
  handleWorkspace(putConsoleWorkspace)(async ({ body, caller, req, setHeader }) => {
    const { workspaceId: id, role, delegation } = caller;
    const tag = req.headers['if-match'];
    if (tag === undefined || tag === '*')
      throw new AppError('PRECONDITION_REQUIRED', 'Send If-Match with the ETag you read', { param: 'If-Match' });
    const asPerson = gateway.as(delegation, { putWorkspace });
    const renamed = await taggedAnswerOf('gateway', () =>
      asPerson.putWorkspace({ params: { id }, body, headers: { 'if-match': tag } }),
    );
    const org = await findOrgOfWorkspace(database.reader, id);
    setHeader('ETag', renamed.etag);
    return workspaceView(renamed.body, { orgId: org?.id ?? null, role });
  });
