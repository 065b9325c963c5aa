import { AppError } from '@countersign/contracts';
import { OrgId } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { PersonCaller } from '../guards.ts';
import { findOrg, type Org } from '../store/orgs.ts';

/**
 * The organisation that the path names, when the caller administers it. An unknown organisation and the organisation of another person
 * have the same answer. Throws NOT_FOUND.
 */
export async function orgOfAdmin(
  { database }: Pick<Context, 'database'>,
  { userId }: PersonCaller,
  tenantId: string,
): Promise<Org> {
  const id = OrgId.safeParse(tenantId);
  const org = id.success ? await findOrg(database.reader, id.data) : null;
  if (org === null || org.adminId !== userId) throw new AppError('NOT_FOUND', 'There is no such object');
  return org;
}
