import { searchResources } from '@countersign/contracts/governance-kernel';
import { underSnapshot } from '../authzen/answer-accesses.ts';
import { searchEntities } from '../authzen/search-accesses.ts';
import { stringErrors } from '../authzen/string-errors.ts';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';

export const searchResourcesRoute = (kernel: Context) =>
  handleTenant(
    searchResources,
    stringErrors,
  )(({ caller, body: { page, ...request } }) =>
    underSnapshot(kernel, caller.tenant, (standing) =>
      searchEntities(kernel, standing, {
        type: request.resource.type,
        page,
        requestFor: (candidate) => ({ ...request, resource: { ...candidate, properties: {} } }),
      }),
    ),
  );
