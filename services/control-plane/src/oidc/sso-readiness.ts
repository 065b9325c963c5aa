import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { notFound } from '../not-found.ts';
import { findAdminOf } from '../store/orgs.ts';
import { listPasskeysOf } from '../store/passkeys.ts';

/** The state on which it depends whether required single sign-on would lock people out. Throws NOT_FOUND. */
export async function ssoReadiness(
  { database: { reader }, connections }: Pick<Context, 'database' | 'connections'>,
  { orgId, connectionId }: { orgId: OrgId; connectionId: string },
) {
  const adminId = await findAdminOf(reader, orgId);
  if (adminId === null) throw notFound();
  const { linkDomains = null } = connections.find(connectionId) ?? {};
  return {
    link_domains: linkDomains === null ? null : [...linkDomains],
    // A passkey that waits for another person cannot sign in.
    admin_has_passkey: (await listPasskeysOf(reader, adminId)).some(({ signedInAt }) => signedInAt !== null),
  };
}
