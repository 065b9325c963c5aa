import { getUsage } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { orgOfAdmin } from '../../directory/org-of-admin.ts';
import { handlePerson } from '../../handle.ts';
import { reportUsage } from '../../invoicing/report-usage.ts';

export const getUsageRoute = ({ database, now }: Pick<Context, 'database' | 'now'>) =>
  handlePerson(getUsage)(async ({ params, caller }) => {
    const { id } = await orgOfAdmin({ database }, caller, params.tenant_id);
    return await reportUsage(database.reader, id, now());
  });
