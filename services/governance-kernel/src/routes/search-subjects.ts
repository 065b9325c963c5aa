import { searchSubjects } from '@countersign/contracts/governance-kernel';
import { underSnapshot } from '../authzen/answer-accesses.ts';
import { searchEntities } from '../authzen/search-accesses.ts';
import { stringErrors } from '../authzen/string-errors.ts';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';

export const searchSubjectsRoute = (kernel: Context) =>
  handleTenant(
    searchSubjects,
    stringErrors,
  )(({ caller, body: { page, ...request } }) =>
    underSnapshot(kernel, caller.tenant, (standing) =>
      searchEntities(kernel, standing, {
        type: request.subject.type,
        page,
        requestFor: (candidate) => ({ ...request, subject: { ...candidate, properties: {} } }),
      }),
    ),
  );
