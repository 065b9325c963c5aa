import type { ReasonCode } from '@countersign/contracts';
import type { FenceInForce } from '../facts.ts';
import { deny, pass, unavailable } from '../gate.ts';
import type { Gate } from '../gate.ts';

/**
 * Judges every call: a fence that is not known is not open. If there are several, the widest is reported. A workspace
 * without settings is closed too: its blocked tools and ceilings are unknown.
 */
export const fence: Gate = ({ facts }) => {
  const { settings } = facts;
  if (facts.fence.state !== 'known' || settings.state === 'unavailable') return unavailable('fence');
  const stopping = facts.fence.value.find(stops);
  if (stopping !== undefined)
    return deny(codeOf(stopping), `${stopping.scope} is under ${stopping.kind}: ${stopping.reason}`);
  if (settings.state === 'known' && settings.value.received !== true)
    return deny('SETTINGS_MISSING', 'This kernel has not received the settings of the workspace yet.');
  return pass;
};

/** A throttle stops what is beyond its limit; all else stops everything. */
function stops({ kind, calls_remaining: remaining }: FenceInForce): boolean {
  return kind !== 'throttle' || (remaining ?? 0) <= 0;
}

const quarantined: Record<FenceInForce['level'], ReasonCode> = {
  system: 'SYSTEM_FROZEN',
  org: 'TENANT_QUARANTINED',
  tenant: 'TENANT_QUARANTINED',
  agent: 'AGENT_QUARANTINED',
  tool: 'TOOL_QUARANTINED',
  server: 'TOOL_QUARANTINED',
};

function codeOf({ kind, level }: FenceInForce): ReasonCode {
  if (kind === 'throttle') return 'THROTTLED';
  return kind === 'quarantine' ? quarantined[level] : 'SYSTEM_FROZEN';
}
