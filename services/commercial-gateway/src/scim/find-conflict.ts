import { AppError } from '@countersign/contracts';
import type { ScimUser } from '@countersign/contracts/commercial-gateway';

type ProvisionedUser = {
  readonly id: string;
  readonly userName: string;
  readonly externalId?: string | undefined;
};
/** A sign-in address of a provisioned person of any organisation. */
type Account = { readonly address: string; readonly scimUserId: string };

type Existing = { readonly users: readonly ProvisionedUser[]; readonly accounts: readonly Account[] };

/**
 * Throws ALREADY_EXISTS, 409 `uniqueness`, for a user name or external ID of another person of the organisation. It
 * also throws for the address of any other provisioned person. An address belongs to one person: if two identity
 * providers managed it, they would end each other's access.
 */
export function requireUnique(
  { id, user, address }: { id: string | null; user: ScimUser; address: string | null },
  { users, accounts }: Existing,
): void {
  const others = users.filter((candidate) => candidate.id !== id);
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
