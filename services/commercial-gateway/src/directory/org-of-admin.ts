import { AppError } from '@countersign/contracts';
import type { Context } from '../context.ts';
import type { PersonCaller } from '../guards.ts';
import type { Org } from '../store/orgs.ts';
import { getOrg } from './get-org.ts';

/**
 * The organisation that the path names, when the caller administers it. An unknown organisation and the organisation of another person
 * have the same answer. Throws NOT_FOUND.
 */
export async function orgOfAdmin(
  { database }: Pick<Context, 'database'>,
  { userId }: Pick<PersonCaller, 'userId'>,
  tenantId: string,
): Promise<Org> {
  const org = await getOrg({ database }, tenantId);
  if (org.adminId !== userId) throw new AppError('NOT_FOUND', 'There is no such object');
  return org;
}
