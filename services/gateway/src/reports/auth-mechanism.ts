import type { IncomingMessage } from 'node:http';
import { isAppError } from '@countersign/contracts';
import type { AuthMechanism } from '@countersign/contracts/gateway';
import { isApiKey } from '../api-keys/secret.ts';
import { isAgentCredential } from '../forwarding/kernel-credential.ts';
import { presentedCredential } from '../identity/credential.ts';
import { looksLikeSessionToken } from '../identity/session-token.ts';

/** By the form of what was presented, whatever became of it. */
export function authMechanism(req: IncomingMessage): AuthMechanism {
  try {
    const credential = presentedCredential(req);
    if (isApiKey(credential)) return 'api_key';
    if (isAgentCredential(credential)) return 'agent_key';
    return looksLikeSessionToken(credential) ? 'session' : 'unknown';
  } catch (error) {
    return isAppError(error) && error.code === 'CREDENTIALS_REQUIRED' && req.headers.authorization === undefined
      ? 'none'
      : 'unknown';
  }
}
