import type { DeviceTokens, OAuthError } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import { accessLifetimeMs } from '../sessions/lifetimes.ts';
import { openSession } from '../sessions/open-session.ts';
import { isLive } from '../sessions/session-state.ts';
import { hashOf } from '../sessions/tokens.ts';
import type { Tokens } from '../sessions/cookies.ts';
import type { Tx } from '../store/database.ts';
import { lockDeviceLogin, recordPoll, useDeviceLogin, type StoredDeviceLogin } from '../store/device-logins.ts';
import { findSession, type Within } from '../store/sessions.ts';
import { grantRefused } from './grant-refused.ts';
import { pollVerdict } from './poll-verdict.ts';

type Poll = { deviceCode: string; client: string; requestId: string };

/**
 * Returns the tokens of an authorized program once, and an OAuth error such as `authorization_pending` otherwise. Code
 * and client are attacker-controlled.
 */
export function pollDeviceLogin(
  context: Pick<Context, 'newEvent' | 'now' | 'transaction'>,
  { deviceCode, client, requestId }: Poll,
): Promise<DeviceTokens | OAuthError> {
  const now = context.now();
  return context.transaction(async (tx) => {
    const login = await lockDeviceLogin(tx, hashOf(deviceCode));
    const verdict = pollVerdict(login, { client, now });
    if (login === null) return grantRefused('invalid_grant');
    switch (verdict.kind) {
      case 'issue':
        return issue(tx, context, { login, requestId });
      case 'authorization_pending':
      case 'slow_down':
        await recordPoll(tx, login, { polledAt: now, intervalSeconds: verdict.intervalSeconds });
        return grantRefused(verdict.kind);
      case 'access_denied':
      case 'expired_token':
      case 'invalid_grant':
        return grantRefused(verdict.kind);
      default:
        return verdict satisfies never;
    }
  });
}

type Issuing = { login: StoredDeviceLogin; requestId: string };

async function issue(
  tx: Tx,
  context: Pick<Context, 'newEvent' | 'now'>,
  { login, requestId }: Issuing,
): Promise<DeviceTokens | OAuthError> {
  const { answeredBy, workspaceId, role, client, address } = login;
  const by = answeredBy === null ? null : await findSession(tx, answeredBy.sessionId);
  await useDeviceLogin(tx, login);
  // A program gets no tokens when the session that authorized it has ended: that session may have been a thief's.
  if (by === null || workspaceId === null || !isLive(by, context.now())) return grantRefused('access_denied');
  const { userId, methods, provenAt } = by;
  const within = { workspaceId, role };
  const { tokens } = await openSession(tx, context, { userId, methods, provenAt, within, client, address, requestId });
  return deviceTokens(tokens, within);
}

/** The answer of RFC 6749 §5.1. */
export function deviceTokens({ access, refresh }: Tokens, { workspaceId, role }: Within): DeviceTokens {
  return {
    access_token: access,
    token_type: 'Bearer',
    expires_in: accessLifetimeMs / 1_000,
    refresh_token: refresh,
    scope: role,
    workspace_id: workspaceId,
  };
}
