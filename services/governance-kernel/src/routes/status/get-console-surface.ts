import { AppError } from '@countersign/contracts';
import { getConsoleSurface, SurfaceId } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { consoleView } from '../../doors/status/console-view.ts';
import { surfaceOf } from '../../doors/status/surfaces.ts';

export const getConsoleSurfaceRoute = ({ standing }: Pick<Context, 'standing'>) =>
  handleTenant(getConsoleSurface)(async ({ params, caller: { tenant } }) => {
    const id = SurfaceId.safeParse(params.surface_id);
    if (!id.success) throw new AppError('NOT_FOUND', 'The console has no surface with this ID');
    const view = await consoleView(standing, tenant);
    return { ...surfaceOf(id.data, view), generated_at: view.status.updated_at };
  });
