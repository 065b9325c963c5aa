import { getBoundaryStatus } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { boundaryStatus } from '../../doors/status/boundary-status.ts';

export const getBoundaryStatusRoute = ({ standing }: Pick<Context, 'standing'>) =>
  handleTenant(getBoundaryStatus)(({ caller: { tenant } }) => boundaryStatus(standing, tenant));
