import { randomBytes } from 'node:crypto';
import { signInCookieNames } from '@countersign/contracts/control-plane';
import { cookieValue, secretsEqual } from '@countersign/service-kit';
import { loginLifetimeMs } from '../sessions/lifetimes.ts';
import { hashOf } from '../sessions/tokens.ts';

type Transport = { isSecure: boolean };

/** 256 random bits that one browser keeps while it signs in: another browser cannot finish the sign-in. */
export function newBrowserKey(): string {
  return randomBytes(32).toString('base64url');
}

/** Links from elsewhere bring it along (Lax): that is how a provider sends the browser back. */
export function browserKeyCookie(key: string, { isSecure }: Transport): string {
  const secure = isSecure ? '; Secure' : '';
  return `${nameFor(isSecure)}=${key}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${loginLifetimeMs / 1_000}${secure}`;
}

/** The key that a request brings (attacker-controlled), so that two tabs may sign in at once; null for none. */
export function browserKeyOf(header: string | undefined, { isSecure }: Transport): string | null {
  const key = cookieValue(header, nameFor(isSecure));
  return key !== null && /^[A-Za-z0-9_-]{43}$/.test(key) ? key : null;
}

/** Whether a request comes from the browser in which a login began. */
export function isSameBrowser(keyHash: string, key: string | null): boolean {
  return key !== null && secretsEqual(hashOf(key), keyHash);
}

function nameFor(isSecure: boolean): string {
  return isSecure ? signInCookieNames.tls : signInCookieNames.loopback;
}
