import { checkRelation } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { checkOne } from '../../controls/relations/check-one.ts';
import { findSnapshot } from '../../store/relation-store.ts';

export const checkRelationRoute = (kernel: Context) =>
  handleTenant(checkRelation)(({ caller, body }) => {
    const find = (tenant: string, version: number) => findSnapshot(kernel.reader, tenant, version);
    return checkOne({ ...kernel, findSnapshot: find }, caller.tenant, body);
  });
