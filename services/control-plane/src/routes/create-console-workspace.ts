import { AppError } from '@countersign/contracts';
import { createConsoleWorkspace } from '@countersign/contracts/control-plane';
import { openWorkspace } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { handlePerson } from '../handle.ts';
import { addWorkspace } from '../orgs/add-workspace.ts';
import { placeWorkspace } from '../orgs/place-workspace.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { findOrgOfAdmin } from '../store/orgs.ts';

/** The gateway keeps the Idempotency-Key, in the transaction that makes the workspace; all that follows may be done twice. */
export const createConsoleWorkspaceRoute = (context: Context) =>
  handlePerson(createConsoleWorkspace, { idempotency: 'handler' })(async ({ body, caller, idempotency, requestId }) => {
    const { userId, delegation } = caller;
    const org = await findOrgOfAdmin(context.database.reader, userId);
    if (org === null)
      throw new AppError('PERMISSION_DENIED', 'You administer no organisation: POST /api/bootstrap makes one');
    const headers: Record<string, string> = idempotency === null ? {} : { 'idempotency-key': idempotency.key };
    const asPerson = context.gateway.as(delegation, { openWorkspace });
    const { id: workspaceId, name, role } = await answerOf('gateway', () => asPerson.openWorkspace({ body, headers }));
    await addWorkspace(context, { workspaceId, orgId: org.id, by: userId, requestId });
    await placeWorkspace(context, { workspaceId, orgId: org.id, isPlaced: false });
    return { workspace_id: workspaceId, name, org_id: org.id, role };
  });
