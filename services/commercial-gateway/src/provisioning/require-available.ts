import type { ScimUser } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { accountAddress, domainOf } from '../scim/account-address.ts';
import { requireUnique } from '../scim/find-conflict.ts';
import { scimRefusal } from '../scim/scim-refusal.ts';
import { listVerifiedDomains } from '../store/claimed-domains.ts';
import type { Reader } from '../store/database.ts';
import { listConflicting } from '../store/scim-users.ts';

type Claim = { orgId: OrgId; /** `null` for a new person. */ id: string | null; user: ScimUser };

/** Throws ALREADY_EXISTS when another person has the name, the id or the address. The caller holds the directory. */
export async function requireNames(reader: Reader, { orgId, id, user }: Claim): Promise<void> {
  const found = await listConflicting(reader, orgId, user);
  const accounts = found.flatMap((other) =>
    other.address === null ? [] : [{ address: other.address, scimUserId: other.id }],
  );
  const users = found.filter((other) => other.orgId === orgId);
  requireUnique({ id, user, address: accountAddress(user) }, { users, accounts });
}

/**
 * Throws `invalidValue` unless the organisation has proven by DNS that it owns the domain of the address. The owner of
 * the domain receives the sign-in codes of the address anyway, so no provider takes over a person of another
 * organisation.
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
