import type { IncomingMessage } from 'node:http';
import { isAppError } from '@countersign/contracts';
import { cookieNames } from '@countersign/contracts/control-plane';
import type { AuthMechanism } from '@countersign/contracts';
import { cookieValue } from '@countersign/service-kit';
import { isDeviceToken } from '../console/person-of-device.ts';
import { isApiKey } from '../api-keys/secret.ts';
import { isAgentCredential } from '../forwarding/kernel-credential.ts';
import { presentedCredential } from '../identity/credential.ts';
import { looksLikeSessionToken } from '../identity/session-token.ts';

/** The kind of the presented credential. It depends only on the form of the credential, and not on its validity. */
export function authMechanism(req: IncomingMessage): AuthMechanism {
  try {
    const credential = presentedCredential(req);
    if (isApiKey(credential)) return 'api_key';
    if (isAgentCredential(credential)) return 'agent_key';
    if (isDeviceToken(credential)) return 'device';
    return looksLikeSessionToken(credential) ? 'session' : 'unknown';
  } catch (error) {
    if (!isAppError(error) || error.code !== 'CREDENTIALS_REQUIRED' || req.headers.authorization !== undefined)
      return 'unknown';
    return bringsAccessCookie(req) ? 'browser_session' : 'none';
  }
}

function bringsAccessCookie({ headers }: IncomingMessage): boolean {
  return Object.values(cookieNames).some(({ access }) => cookieValue(headers.cookie, access) !== null);
}
