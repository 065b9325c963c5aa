import type { Instant, PrincipalId } from '@countersign/contracts';
import type { Agent, CallCounts } from '@countersign/contracts/governance-kernel';
import { hasEnded, type AccessKeyRow } from '../access-keys/access-keys.ts';
import { isInForce, type FenceRow } from '../fences/fence-row.ts';
import { fenceView } from '../fences/fence-view.ts';
import type { IdentityRow } from '../identities/identities.ts';

export type AgentRows = {
  principal: PrincipalId;
  identity: IdentityRow | null;
  /** The stop of this one agent, also one that was lifted. */
  fence: FenceRow | null;
  keys: readonly AccessKeyRow[];
  lastCallAt: Date | null;
  day: CallCounts;
  week: CallCounts;
  pendingApprovals: number;
};

/** One agent as people see it. The keys of a revoked agent have ended with it. */
export function agentView(rows: AgentRows, nowMs: number): Agent {
  const { principal, identity, fence, keys, lastCallAt, day, week, pendingApprovals } = rows;
  const isRevoked = identity !== null && identity.revokedAtMs !== null;
  const stop = fence !== null && isInForce(fence, nowMs) ? fence : null;
  return {
    principal_id: principal,
    display_name: identity?.displayName ?? null,
    state: isRevoked ? 'revoked' : stateUnder(stop),
    stop: stop === null ? null : fenceView(stop, nowMs),
    enrolled_at: identity === null ? null : instant(new Date(identity.enrolledAtMs)),
    enrolled_by: identity?.enrolledBy ?? null,
    live_keys: isRevoked ? 0 : keys.filter((key) => !hasEnded(key, nowMs)).length,
    last_call_at: lastCallAt === null ? null : instant(lastCallAt),
    ...{ day, week },
    pending_approvals: pendingApprovals,
  };
}

function stateUnder(stop: FenceRow | null): Agent['state'] {
  if (stop === null) return 'active';
  return stop.kind === 'throttle' ? 'slowed' : 'stopped';
}

export function instant(at: Date): Instant {
  return at.toISOString() as Instant; // toISOString writes exactly this form
}
