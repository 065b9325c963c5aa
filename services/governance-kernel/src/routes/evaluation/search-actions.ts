import { searchActions } from '@countersign/contracts/governance-kernel';
import { underSnapshot } from '../../doors/authzen/answer-accesses.ts';
import { searchActionNames } from '../../doors/authzen/search-accesses.ts';
import { stringErrors } from '../../doors/authzen/string-errors.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';

/** All actions are on one page, since a permission model has at most 100 for each type. */
export const searchActionsRoute = (kernel: Context) =>
  handleTenant(
    searchActions,
    stringErrors,
  )(async ({ caller, body }) => {
    const names = await underSnapshot(kernel, caller.tenant, (current) => searchActionNames(kernel, current, body));
    return { results: names.map((name) => ({ name })), page: { next_token: '' } };
  });
