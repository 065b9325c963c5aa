import { searchActions } from '@countersign/contracts/governance-kernel';
import { underSnapshot } from '../authzen/answer-accesses.ts';
import { searchActionNames } from '../authzen/search-accesses.ts';
import { stringErrors } from '../authzen/string-errors.ts';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';

/** All in one page: a model names a hundred at most. */
export const searchActionsRoute = (kernel: Context) =>
  handleTenant(
    searchActions,
    stringErrors,
  )(async ({ caller, body }) => {
    const names = await underSnapshot(kernel, caller.tenant, (standing) => searchActionNames(kernel, standing, body));
    return { results: names.map((name) => ({ name })), page: { next_token: '' } };
  });
