import { AppError } from '@countersign/contracts';
import type { Context } from '../context.ts';
import type { PersonCaller } from '../guards.ts';
import type { Org } from '../store/orgs.ts';
import { getOrg } from './get-org.ts';

/**
 * Returns the organisation that the path names, when the caller administers it. Throws the same NOT_FOUND for an
 * unknown organisation and for one that the caller does not administer.
 */
export async function orgOfAdmin(
  { database }: Pick<Context, 'database'>,
  { userId }: Pick<PersonCaller, 'userId'>,
  tenantId: string,
): Promise<Org> {
  const org = await getOrg({ database }, tenantId);
  if (org.adminId !== userId)
    throw new AppError(
      'NOT_FOUND',
      'This object does not exist, or you have no access to it. Check its ID and the workspace',
    );
  return org;
}
