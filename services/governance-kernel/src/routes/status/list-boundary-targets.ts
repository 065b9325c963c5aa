import { listBoundaryTargets } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { listTargets } from '../../store/target-store.ts';

export const listBoundaryTargetsRoute = ({ reader, clock }: Pick<Context, 'reader' | 'clock'>) =>
  handleTenant(listBoundaryTargets)(({ caller: { tenant } }) => listTargets(reader, tenant, clock()));
