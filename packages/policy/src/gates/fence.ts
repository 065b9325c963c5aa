import { deny, pass, unavailable } from '../gate.ts';
import type { Gate } from '../gate.ts';

/** Judges every call: a fence that is not known is not open. */
export const fence: Gate = ({ facts }) => {
  if (facts.fence.state !== 'known') return unavailable('fence');
  const { frozen, tenant_quarantined, agent_quarantined, throttled } = facts.fence.value;
  if (frozen !== false) return deny('SYSTEM_FROZEN', 'The system is frozen.');
  if (tenant_quarantined !== false) return deny('TENANT_QUARANTINED', 'The tenant is quarantined.');
  if (agent_quarantined !== false) return deny('AGENT_QUARANTINED', 'The agent is quarantined.');
  if (throttled !== false) return deny('THROTTLED', 'A throttle is in force.');
  return pass;
};
