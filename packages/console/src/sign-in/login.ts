/** A started sign-in. `shownCode` is the code in development, where no mail is sent. */
export type Login = { email: string; loginId: string; expiresAt: string; shownCode: string | null };

/** The requested page of the console, or its start page. The address is attacker-controlled. */
export function wayBack(requested: string | undefined): string {
  const start = '/overview';
  if (requested === undefined || !URL.canParse(requested, location.origin)) return start;
  const { origin, pathname, search } = new URL(requested, location.origin);
  // A path with two leading slashes would be read as another host.
  const isInside = origin === location.origin && !pathname.startsWith('//') && !pathname.startsWith('/sign-in');
  return isInside ? pathname + search : start;
}
