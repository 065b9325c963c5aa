/** Who may open a workspace: addresses, domains as `@example.org`, or `*` for everybody. */
export type SignUp = readonly string[];

/** Whether a new person with this address, which is lower-case, gets a workspace. */
export function maySignUp(signUp: SignUp, email: string): boolean {
  const domain = email.slice(email.lastIndexOf('@'));
  return signUp.some((entry) => entry === '*' || entry === email || entry === domain);
}

/** `*`, an address, or a domain behind an @. */
export const signUpEntry = /^(?:\*|[^\s@,]{0,64}@[a-z0-9.-]{1,253})$/;
