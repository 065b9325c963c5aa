import { deny, pass, unavailable } from '../gate.ts';
import type { Gate } from '../gate.ts';
import { identityDemanded } from '../identity-demands.ts';

/** Judges every call, since each has a caller. A revoked caller is refused under every policy. */
export const identity: Gate = ({ policy, intent, facts }) => {
  if (facts.identity.state !== 'known') return unavailable('identity');
  const { credential, credential_state: state, enrolment } = facts.identity.value;
  if (enrolment === 'revoked') return deny('AGENT_REVOKED', 'The agent was revoked.');
  if (state === 'revoked') return deny('AGENT_REVOKED', 'The credential of the agent was revoked or has expired.');
  if (state !== 'active') return deny('AGENT_UNKNOWN', 'The credential does not belong to this agent.');
  const demanded = identityDemanded(policy, intent);
  if (demanded.has('proven') && !proving.has(credential))
    return deny(
      'CREDENTIALS_MISSING',
      'A proven identity is required, but the caller presented no credential that proves one.',
    );
  if (demanded.has('enrolled') && enrolment !== 'active') return deny('AGENT_UNKNOWN', 'The agent is not enrolled.');
  return pass;
};

/** The credentials that prove an identity. An unlisted credential proves nothing. */
const proving: ReadonlySet<string> = new Set(['access_key', 'agent_token', 'assertion', 'oauth_token']);
