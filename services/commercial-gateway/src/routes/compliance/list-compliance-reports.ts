import { listComplianceReports } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { orgOfAdmin } from '../../directory/org-of-admin.ts';
import { handlePerson } from '../../handle.ts';
import { listReports } from '../../store/compliance-reports.ts';

export const listComplianceReportsRoute = ({ database }: Pick<Context, 'database'>) =>
  handlePerson(listComplianceReports)(async ({ query: { org_id, ...page }, caller }) => {
    const { id } = await orgOfAdmin({ database }, caller, org_id);
    const { rows, nextCursor } = await listReports(database.reader, id, page);
    return { data: rows, next_cursor: nextCursor };
  });
