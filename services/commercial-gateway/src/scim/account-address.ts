import { EmailAddress } from '@countersign/contracts';
import type { ScimUser } from '@countersign/contracts/commercial-gateway';

/**
 * The address by which the person signs in: the primary one, or else the first one, or else the user name. `null` when none of them is an
 * address. Then the resource is no person here.
 */
export function accountAddress({ userName, emails = [] }: ScimUser): string | null {
  const primaryFirst = [...emails.filter(({ primary }) => primary === true), ...emails];
  const candidates = [...primaryFirst.map(({ value }) => value), userName];
  return candidates.map((value) => EmailAddress.safeParse(value).data).find((address) => address !== undefined) ?? null;
}

/** The domain of an address in lower case. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}
