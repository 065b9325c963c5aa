import { isAppError } from '@countersign/contracts';
import type { DeviceTokens, OAuthError } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import { renewSession } from '../sessions/renew-session.ts';
import { grantRefused } from './grant-refused.ts';
import { deviceTokens } from './poll-device-login.ts';

/** Issues the next token pair of a program. A reused refresh token ends its session, as for a browser. */
export async function renewDevice(
  context: Pick<Context, 'log' | 'newEvent' | 'now' | 'transaction'>,
  renewing: { token: string; client: string; requestId: string },
): Promise<DeviceTokens | OAuthError> {
  try {
    const { session, tokens } = await renewSession(context, { ...renewing, holder: 'device' });
    if (tokens === null || session.within === null) return grantRefused('invalid_grant');
    return deviceTokens(tokens, session.within);
  } catch (error) {
    if (isAppError(error) && error.code === 'CREDENTIALS_INVALID') return grantRefused('invalid_grant');
    throw error;
  }
}
