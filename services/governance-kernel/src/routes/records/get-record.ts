import { AppError } from '@countersign/contracts';
import { getRecord } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { findRecord } from '../../store/record-store.ts';

export const getRecordRoute = ({ reader }: Context) =>
  handleTenant(getRecord)(async ({ params, caller }) => {
    const record = await findRecord(reader, caller.tenant, params.record_id);
    if (record === null)
      throw new AppError('NOT_FOUND', 'The tenant has no boundary record with this ID', { param: 'record_id' });
    return record;
  });
