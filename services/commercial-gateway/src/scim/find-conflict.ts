import { AppError } from '@countersign/contracts';
import type { ScimUser } from '@countersign/contracts/commercial-gateway';

type ProvisionedUser = { readonly id: string; readonly userName: string; readonly externalId?: string | undefined };
/** A local account with one of the addresses. `scimUserId` is the provisioned person that it belongs to; `null` when there is none. */
type Account = { readonly address: string; readonly scimUserId: string | null };

type Existing = { readonly users: readonly ProvisionedUser[]; readonly accounts: readonly Account[] };

/** The addresses by which a person could sign in, in lower case. */
export function addressesOf({ userName, emails = [] }: ScimUser): string[] {
  const values = [userName, ...emails.map(({ value }) => value)];
  return [...new Set(values.filter((value) => value.includes('@')).map((value) => value.toLowerCase()))];
}

/**
 * Throws ALREADY_EXISTS, 409 `uniqueness`, for a name or id of another person of the organisation, and for an address of an account that
 * is not linked to this person. Such an account is never adopted: whoever controls the identity provider would control it.
 */
export function requireUnique(
  { id, user }: { id: string | null; user: ScimUser },
  { users, accounts }: Existing,
): void {
  const others = users.filter((other) => other.id !== id);
  const name = user.userName.toLowerCase();
  if (others.some(({ userName }) => userName.toLowerCase() === name))
    throw conflict('userName', `Another user has the userName ${user.userName}.`);
  if (user.externalId !== undefined && others.some(({ externalId }) => externalId === user.externalId))
    throw conflict('externalId', `Another user has the externalId ${user.externalId}.`);
  const addresses = addressesOf(user);
  const taken = accounts.find(
    ({ address, scimUserId }) =>
      (scimUserId === null || scimUserId !== id) && addresses.includes(address.toLowerCase()),
  );
  if (taken !== undefined)
    throw conflict(
      'emails',
      `The address ${taken.address} belongs to an account that this identity provider does not manage. Its owner links it by signing in with single sign-on.`,
    );
}

function conflict(param: string, message: string): AppError {
  return new AppError('ALREADY_EXISTS', message, { param });
}
