import { searchSubjects } from '@countersign/contracts/governance-kernel';
import { underSnapshot } from '../../doors/authzen/answer-accesses.ts';
import { searchEntities } from '../../doors/authzen/search-accesses.ts';
import { stringErrors } from '../../doors/authzen/string-errors.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';

export const searchSubjectsRoute = (kernel: Context) =>
  handleTenant(
    searchSubjects,
    stringErrors,
  )(({ caller, body: { page, ...request } }) =>
    underSnapshot(kernel, caller.tenant, (current) =>
      searchEntities(kernel, current, {
        type: request.subject.type,
        page,
        requestFor: (candidate) => ({ ...request, subject: { ...candidate, properties: {} } }),
      }),
    ),
  );
