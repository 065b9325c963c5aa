import { createComplianceReport } from '@countersign/contracts/commercial-gateway';
import { requestReport } from '../../compliance/request-report.ts';
import type { Context } from '../../context.ts';
import { orgOfAdmin } from '../../directory/org-of-admin.ts';
import { handlePerson } from '../../handle.ts';

export const createComplianceReportRoute = (context: Context) =>
  handlePerson(createComplianceReport)(async ({ body: { org_id, ...period }, caller, requestId }) => {
    const { id: orgId } = await orgOfAdmin(context, caller, org_id);
    return requestReport(context, { orgId, ...period }, { userId: caller.userId, requestId });
  });
