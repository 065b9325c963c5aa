import type { ReasonCode } from '@countersign/contracts';
import type { FenceInForce } from '../facts.ts';
import { deny, pass, unavailable } from '../gate.ts';
import type { Gate } from '../gate.ts';

/**
 * Judges every call. If the fences are unknown, the call is denied. If several fences stop a call, the first is
 * reported. The kernel lists the widest first. A workspace without settings is denied too, since its blocked tools and
 * ceilings are unknown.
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

/** A throttle stops only calls over its limit. Every other fence stops all calls. */
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
