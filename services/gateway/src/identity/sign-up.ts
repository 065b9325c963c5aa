import { domainOf } from '@countersign/contracts';

/**
 * Allowed sign-ups: addresses, domains as `@example.org`, people of a messenger as `telegram:12345`, or `*` for all.
 */
export type SignUp = readonly string[];

/** Whether a new person with this lower-case address or messenger id may create a workspace. */
export function maySignUp(signUp: SignUp, knownAs: string): boolean {
  const domain = `@${domainOf(knownAs)}`;
  return signUp.some((entry) => entry === '*' || entry === knownAs || entry === domain);
}

/** `*`, an address, a domain after an @, or a person of a messenger. */
export const signUpEntry = /^(?:\*|telegram:\d{1,20}|[^\s@,]{0,64}@[a-z0-9.-]{1,253})$/;
