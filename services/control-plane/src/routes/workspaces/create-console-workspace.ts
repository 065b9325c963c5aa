import { AppError } from '@countersign/contracts';
import { createConsoleWorkspace } from '@countersign/contracts/control-plane';
import { openWorkspace } from '@countersign/contracts/gateway';
import { answer } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { handlePerson } from '../../handle.ts';
import { addWorkspace } from '../../orgs/add-workspace.ts';
import { placeWorkspace } from '../../orgs/place-workspace.ts';
import { inPlace, placeOf } from '../../orgs/reserve-place.ts';
import { keyedAnswerOf, keyHeaders } from '../../siblings/answer-of.ts';
import { findOrgOfAdmin } from '../../store/orgs.ts';

/**
 * The gateway stores the Idempotency-Key in the transaction that creates the workspace. All later steps are
 * repeatable.
 */
export const createConsoleWorkspaceRoute = (context: Context) =>
  handlePerson(createConsoleWorkspace, { idempotency: 'handler' })(async ({ body, caller, idempotency, requestId }) => {
    const { userId, delegation } = caller;
    const org = await findOrgOfAdmin(context.database.reader, userId);
    if (org === null)
      throw new AppError('PERMISSION_DENIED', 'You administer no organisation. Create one with POST /api/bootstrap');
    const headers = keyHeaders(idempotency);
    const asPerson = context.gateway.as(delegation, { openWorkspace });
    const place = placeOf(org.id, idempotency);
    const opened = await inPlace(context, place, () =>
      keyedAnswerOf('gateway', () => asPerson.openWorkspace({ body, headers })),
    );
    const { id: workspaceId, name, role } = opened.body;
    await addWorkspace(context, { workspaceId, orgId: org.id, place, by: userId, requestId });
    await placeWorkspace(context, { workspaceId, orgId: org.id, isPlaced: false });
    const workspace = { workspace_id: workspaceId, name, org_id: org.id, role };
    return answer(createConsoleWorkspace.status, workspace, opened.replayed);
  });
