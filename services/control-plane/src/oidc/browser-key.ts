import { randomBytes } from 'node:crypto';
import { signInCookieNames } from '@countersign/contracts/control-plane';
import { cookieValue, secretsEqual } from '@countersign/service-kit';
import { loginLifetimeMs } from '../sessions/lifetimes.ts';
import { hashOf } from '../sessions/tokens.ts';

type Transport = { isSecure: boolean };

/** 256 random bits that one browser keeps during sign-in. Another browser cannot finish the sign-in. */
export function newBrowserKey(): string {
  return randomBytes(32).toString('base64url');
}

/** The cookie is sent with links from other sites (Lax), since the provider returns the browser by such a link. */
export function browserKeyCookie(key: string, { isSecure }: Transport): string {
  const secure = isSecure ? '; Secure' : '';
  return `${nameFor(isSecure)}=${key}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${loginLifetimeMs / 1_000}${secure}`;
}

/**
 * The key of a request (attacker-controlled). The tabs of a browser share the key, so two tabs can sign in at the same
 * time. `null` when there is no valid key.
 */
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
