import { instantOrNull, instantOf, type PrincipalId } from '@countersign/contracts';
import type { Agent, CallCounts } from '@countersign/contracts/governance-kernel';
import { hasEnded, type AccessKeyRow } from '../../controls/access-keys/access-keys.ts';
import { isInForce, type FenceRow } from '../../controls/fences/fence-row.ts';
import { fenceView } from '../../controls/fences/fence-view.ts';
import type { IdentityRow } from '../../controls/identities/identities.ts';

export type AgentRows = {
  principal: PrincipalId;
  identity: IdentityRow | null;
  /** The fence on this agent, including a lifted one. */
  fence: FenceRow | null;
  keys: readonly AccessKeyRow[];
  lastCallAt: Date | null;
  day: CallCounts;
  week: CallCounts;
  pendingApprovals: number;
};

/** The view of one agent. The keys of a revoked agent have ended with it. */
export function agentView(rows: AgentRows, nowMs: number): Agent {
  const { principal, identity, fence, keys, lastCallAt, day, week, pendingApprovals } = rows;
  const isRevoked = identity !== null && identity.revokedAtMs !== null;
  const stop = fence !== null && isInForce(fence, nowMs) ? fence : null;
  return {
    principal_id: principal,
    display_name: identity?.displayName ?? null,
    state: isRevoked ? 'revoked' : stateUnder(stop),
    stop: stop === null ? null : fenceView(stop, nowMs),
    enrolled_at: identity === null ? null : instantOf(new Date(identity.enrolledAtMs)),
    enrolled_by: identity?.enrolledBy ?? null,
    live_keys: isRevoked ? 0 : keys.filter((key) => !hasEnded(key, nowMs)).length,
    last_call_at: instantOrNull(lastCallAt),
    ...{ day, week },
    pending_approvals: pendingApprovals,
  };
}

function stateUnder(stop: FenceRow | null): Agent['state'] {
  if (stop === null) return 'active';
  return stop.kind === 'throttle' ? 'slowed' : 'stopped';
}
