import { deny, pass, unavailable } from '../gate.ts';
import type { Gate } from '../gate.ts';

/** Judges every call: somebody always makes it. */
export const identity: Gate = ({ facts }) => {
  if (facts.identity.state !== 'known') return unavailable('identity');
  const who = facts.identity.value;
  if (who.kind === 'operator_credential') return pass;
  if (who.kind === 'missing') return deny('CREDENTIALS_MISSING', 'The required credential was not presented.');
  if (who.status === 'active') return pass;
  if (who.status === 'revoked') return deny('AGENT_REVOKED', 'The agent was revoked.');
  return deny('AGENT_UNKNOWN', 'The agent is not enrolled.');
};
