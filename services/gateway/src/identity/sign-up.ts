/** Who may open a workspace: addresses, domains as `@example.org`, people of a messenger as `telegram:12345`, or `*` for everybody. */
export type SignUp = readonly string[];

/** Whether a new person who is known as this, an address in lower case or an id of a messenger, gets a workspace. */
export function maySignUp(signUp: SignUp, knownAs: string): boolean {
  const domain = knownAs.slice(knownAs.lastIndexOf('@'));
  return signUp.some((entry) => entry === '*' || entry === knownAs || entry === domain);
}

/** `*`, an address, a domain behind an @, or a person of a messenger. */
export const signUpEntry = /^(?:\*|telegram:\d{1,20}|[^\s@,]{0,64}@[a-z0-9.-]{1,253})$/;
