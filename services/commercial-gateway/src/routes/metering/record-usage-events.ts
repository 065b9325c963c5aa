import { AppError } from '@countersign/contracts';
import { recordUsageEvents } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { handleSibling } from '../../handle.ts';
import { findOrg } from '../../store/orgs.ts';
import { recordSubmittedUsage } from '../../usage/record-submitted-usage.ts';

export const recordUsageEventsRoute = (context: Pick<Context, 'database' | 'transaction' | 'now'>) =>
  handleSibling(recordUsageEvents)(async ({ body: { tenant_id: orgId, events } }) => {
    if ((await findOrg(context.database.reader, orgId)) === null)
      throw new AppError('NOT_FOUND', `tenant_id ${orgId} is not in the directory. Send the events again later`, {
        param: 'tenant_id',
      });
    const { stored, duplicates, rejections } = await recordSubmittedUsage(context, events, { orgId });
    return { stored, known: duplicates, rejected: rejections.length, rejections };
  });
