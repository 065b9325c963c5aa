import { AppError } from '@countersign/contracts';
import { OrgId } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { findOrg, type Org } from '../store/orgs.ts';

/** Returns the organisation that the path of an administrator's route names. Throws NOT_FOUND. */
export async function getOrg({ database }: Pick<Context, 'database'>, orgId: string): Promise<Org> {
  const id = OrgId.safeParse(orgId);
  const org = id.success ? await findOrg(database.reader, id.data) : null;
  if (org === null)
    throw new AppError(
      'NOT_FOUND',
      'This object does not exist, or you have no access to it. Check its ID and the workspace',
    );
  return org;
}
