const name = 'countersign_approver';
/** The pages alone are sent it: no script reads it, no other site's link or form carries it. */
const attributes = 'Path=/approvals; HttpOnly; SameSite=Strict';

export function cookieText(value: string, { ageSeconds, isSecure }: { ageSeconds: number; isSecure: boolean }): string {
  return `${name}=${value}; ${attributes}; Max-Age=${ageSeconds}${isSecure ? '; Secure' : ''}`;
}

export function endedCookieText(isSecure: boolean): string {
  return cookieText('', { ageSeconds: 0, isSecure });
}

/** The value of our cookie. Of two under our name one was put there by somebody else, so then it is none. */
export function cookieOf(header: string | undefined): string | null {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim());
  const values = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? (values[0] ?? null) : null;
}
