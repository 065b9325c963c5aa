import { AppError } from '@countersign/contracts';
import { getPolicyCeilings } from '@countersign/contracts/governance-kernel';
import { answer, etag } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { ceilingsView } from '../../controls/policy/ceilings-view.ts';
import { findCeilings } from '../../store/ceiling-store.ts';

export const getPolicyCeilingsRoute = ({ reader }: Context) =>
  handleSystem(getPolicyCeilings)(async ({ params: { tenant } }) => {
    const row = await findCeilings(reader, tenant);
    if (row === null) throw new AppError('NOT_FOUND', 'The tenant has no policy ceilings');
    return answer(200, ceilingsView(row), etag(String(row.version)));
  });
