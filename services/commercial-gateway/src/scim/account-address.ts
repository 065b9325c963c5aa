import { EmailAddress } from '@countersign/contracts';
import type { ScimUser } from '@countersign/contracts/commercial-gateway';

/**
 * Returns the address with which the person signs in: the primary e-mail address, else the first one, else the user
 * name. `null` when none is a valid address. Such a resource has no account.
 */
export function accountAddress({ userName, emails = [] }: ScimUser): string | null {
  const primaryFirst = [...emails.filter(({ primary }) => primary === true), ...emails];
  const candidates = [...primaryFirst.map(({ value }) => value), userName];
  return candidates.map((value) => EmailAddress.safeParse(value).data).find((address) => address !== undefined) ?? null;
}
