/** A sign-in that has begun. `shownCode`: in development, the code that is not mailed. */
export type Login = { email: string; loginId: string; expiresAt: string; shownCode: string | null };

/** Where a person wanted to go: within the console, or its start. The address is attacker-controlled. */
export function wayBack(asked: string | undefined): string {
  const start = '/overview';
  if (asked === undefined || !URL.canParse(asked, location.origin)) return start;
  const { origin, pathname, search } = new URL(asked, location.origin);
  // Two leading slashes would be read as the name of another host.
  const isInside = origin === location.origin && !pathname.startsWith('//') && !pathname.startsWith('/sign-in');
  return isInside ? pathname + search : start;
}
