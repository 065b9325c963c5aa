import { bootstrapOrg } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handlePerson } from '../../handle.ts';
import * as orgs from '../../orgs/bootstrap-org.ts';

export const bootstrapOrgRoute = (context: Context) =>
  handlePerson(bootstrapOrg)(async ({ body: { name }, caller, requestId }) => {
    const org = await orgs.bootstrapOrg(context, { name, caller, requestId });
    return { org_id: org.id, name: org.name, workspace_id: org.workspaceId };
  });
