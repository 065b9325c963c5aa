import { pollIntervalSeconds } from '../sessions/lifetimes.ts';
import type { StoredDeviceLogin } from '../store/device-logins.ts';

type Polled = Pick<StoredDeviceLogin, 'state' | 'client' | 'expiresAt' | 'polledAt' | 'intervalSeconds'>;

/**
 * `issue`: tokens are issued. All other kinds are errors of RFC 6749 §5.2 or RFC 8628 §3.5. `intervalSeconds`: the new
 * polling interval.
 */
type PollVerdict =
  | { kind: 'issue' }
  | { kind: 'authorization_pending' | 'slow_down'; intervalSeconds: number }
  | { kind: 'access_denied' | 'expired_token' | 'invalid_grant' };

/** The verdict for a polling program. `login` is `null` when the device code is unknown. */
export function pollVerdict(login: Polled | null, { client, now }: { client: string; now: Date }): PollVerdict {
  if (login === null || login.client !== client) return { kind: 'invalid_grant' };
  const { state } = login;
  // A used code is invalid, whatever its age, because a code is valid only once (RFC 6749 §10.5).
  if (state === 'used') return { kind: 'invalid_grant' };
  if (state === 'denied') return { kind: 'access_denied' };
  if (login.expiresAt <= now) return { kind: 'expired_token' };
  if (state === 'approved') return { kind: 'issue' };
  const { intervalSeconds } = login;
  return isTooSoon(login, now)
    ? { kind: 'slow_down', intervalSeconds: intervalSeconds + pollIntervalSeconds }
    : { kind: 'authorization_pending', intervalSeconds };
}

/** A poll may be early by this time, because the network delay varies between two polls. */
const jitterMs = 500;

function isTooSoon({ polledAt, intervalSeconds }: Polled, now: Date): boolean {
  return polledAt !== null && now.getTime() - polledAt.getTime() < intervalSeconds * 1_000 - jitterMs;
}
