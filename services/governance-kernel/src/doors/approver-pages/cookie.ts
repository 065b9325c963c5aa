import { cookieValue } from '@countersign/service-kit';

const name = 'countersign_approver';
/** Only the approval pages receive the cookie. Scripts cannot read it, and no request from another site carries it. */
const attributes = 'Path=/approvals; HttpOnly; SameSite=Strict';

export function cookieText(value: string, { ageSeconds, isSecure }: { ageSeconds: number; isSecure: boolean }): string {
  return `${name}=${value}; ${attributes}; Max-Age=${ageSeconds}${isSecure ? '; Secure' : ''}`;
}

export function endedCookieText(isSecure: boolean): string {
  return cookieText('', { ageSeconds: 0, isSecure });
}

export function cookieOf(header: string | undefined): string | null {
  return cookieValue(header, name);
}
