import { listConsoleSurfaces } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { consoleView } from '../../doors/status/console-view.ts';
import { surfaceIds, surfaceOf } from '../../doors/status/surfaces.ts';

export const listConsoleSurfacesRoute = ({ standing }: Pick<Context, 'standing'>) =>
  handleTenant(listConsoleSurfaces)(async ({ caller: { tenant } }) => {
    const view = await consoleView(standing, tenant);
    const surfaces = surfaceIds.map((id) => surfaceOf(id, view));
    return { surfaces: surfaces.map(({ id, status, routes }) => ({ id, status, routes })) };
  });
