import { AppError } from '@countersign/contracts';
import type { ScimUser } from '@countersign/contracts/commercial-gateway';

type ProvisionedUser = {
  readonly id: string;
  readonly userName: string;
  readonly externalId?: string | undefined;
};
/** An address by which a provisioned person of any organisation signs in. */
type Account = { readonly address: string; readonly scimUserId: string };

type Existing = { readonly users: readonly ProvisionedUser[]; readonly accounts: readonly Account[] };

/**
 * Throws ALREADY_EXISTS, 409 `uniqueness`, for a name or id of another person of the organisation, and for the address of another person
 * whom an identity provider manages. One address is one person, and two providers would end each other's access.
 */
export function requireUnique(
  { id, user, address }: { id: string | null; user: ScimUser; address: string | null },
  { users, accounts }: Existing,
): void {
  const others = users.filter((other) => other.id !== id);
  const name = user.userName.toLowerCase();
  if (others.some(({ userName }) => userName.toLowerCase() === name))
    throw conflict('userName', `Another user has the userName ${user.userName}.`);
  if (user.externalId !== undefined && others.some(({ externalId }) => externalId === user.externalId))
    throw conflict('externalId', `Another user has the externalId ${user.externalId}.`);
  if (accounts.some((account) => account.address === address && account.scimUserId !== id))
    throw conflict(
      'emails',
      `The address ${address} belongs to another user whom an identity provider manages. Delete that user there first.`,
    );
}

function conflict(param: string, message: string): AppError {
  return new AppError('ALREADY_EXISTS', message, { param });
}
