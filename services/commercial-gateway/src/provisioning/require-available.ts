import { domainOf } from '@countersign/contracts';
import type { ScimUser } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { accountAddress } from '../scim/account-address.ts';
import { requireUnique } from '../scim/find-conflict.ts';
import { scimRefusal } from '../scim/scim-refusal.ts';
import { listVerifiedDomains } from '../store/claimed-domains.ts';
import type { Reader } from '../store/database.ts';
import { listConflicting } from '../store/scim-users.ts';

type Claim = { orgId: OrgId; /** `null` for a new person. */ id: string | null; user: ScimUser };

/**
 * Throws ALREADY_EXISTS when another person has the user name, the external ID or the address. The caller must hold the
 * lock of the identity settings.
 */
export async function requireNames(reader: Reader, { orgId, id, user }: Claim): Promise<void> {
  const found = await listConflicting(reader, orgId, user);
  const accounts = found.flatMap((candidate) =>
    candidate.address === null ? [] : [{ address: candidate.address, scimUserId: candidate.id }],
  );
  const users = found.filter((candidate) => candidate.orgId === orgId);
  requireUnique({ id, user, address: accountAddress(user) }, { users, accounts });
}

/**
 * Throws `invalidValue` for an address whose domain the organisation has not verified by DNS. Otherwise an identity
 * provider could take over a person of another organisation.
 */
export async function requireOwnDomain(reader: Reader, { orgId, user }: Omit<Claim, 'id'>): Promise<void> {
  const address = accountAddress(user);
  if (address === null) return;
  const domain = domainOf(address);
  const verified = await listVerifiedDomains(reader, orgId);
  if (verified.includes(domain)) return;
  throw scimRefusal(
    'invalidValue',
    `The domain ${domain} is not verified for this organisation. Verify it in the identity settings, then provision ${address} again.`,
    'emails',
  );
}
