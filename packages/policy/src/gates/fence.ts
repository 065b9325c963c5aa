import type { ReasonCode } from '@countersign/contracts';
import type { FenceInForce } from '../facts.ts';
import { deny, pass, unavailable } from '../gate.ts';
import type { Gate } from '../gate.ts';

/** Judges every call: a fence that is not known is not open. Of several, the widest speaks. */
export const fence: Gate = ({ facts }) => {
  if (facts.fence.state !== 'known') return unavailable('fence');
  const stopping = facts.fence.value.find(stops);
  if (stopping === undefined) return pass;
  const { scope, kind, reason } = stopping;
  return deny(codeOf(stopping), `${scope} is under ${kind}: ${reason}`);
};

/** A throttle stops what is beyond its limit; all else stops everything. */
function stops({ kind, calls_remaining: left }: FenceInForce): boolean {
  return kind !== 'throttle' || (left ?? 0) <= 0;
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
