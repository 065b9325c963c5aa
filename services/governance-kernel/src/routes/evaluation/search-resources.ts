import { searchResources } from '@countersign/contracts/governance-kernel';
import { underSnapshot } from '../../doors/authzen/answer-accesses.ts';
import { searchEntities } from '../../doors/authzen/search-accesses.ts';
import { stringErrors } from '../../doors/authzen/string-errors.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';

export const searchResourcesRoute = (kernel: Context) =>
  handleTenant(
    searchResources,
    stringErrors,
  )(({ caller, body: { page, ...request } }) =>
    underSnapshot(kernel, caller.tenant, (current) =>
      searchEntities(kernel, current, {
        type: request.resource.type,
        page,
        requestFor: (candidate) => ({ ...request, resource: { ...candidate, properties: {} } }),
      }),
    ),
  );
