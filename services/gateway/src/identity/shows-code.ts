import type { IncomingMessage } from 'node:http';
import { isLoopbackAuthority } from './loopback.ts';

/** Each of these headers shows a proxy between the caller and this gateway. */
const forwarding = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

/**
 * Whether the answer may contain the sign-in code. The request must come from this machine, under a name of this
 * machine, without a proxy, and not from a foreign page. All inputs are attacker-controlled, so any doubt hides the
 * code.
 */
export function mayBeShownCode({ headers, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): boolean {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length !== 1 || !isLoopbackAuthority(headers.host)) return false;
  if (forwarding.some((name) => headers[name] !== undefined)) return false;
  return headers.origin === undefined || isLoopbackOrigin(headers.origin);
}

function isLoopbackOrigin(origin: string): boolean {
  return URL.canParse(origin) && isLoopbackAuthority(new URL(origin).host);
}
