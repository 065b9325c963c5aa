import { toolsNamed, type FenceInForce } from '@countersign/policy';
import { fenceLiftResource, type GovernedChange, type OrgId } from '@countersign/contracts/governance-kernel';
import type { GovernedCall } from '../../call/governed-call.ts';
import type { SealedIntent } from '../../call/normalise.ts';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { put, wanted, type Change, type Wanted } from '../../ledger/control.ts';
import { inWindow, isInForce, withOneMore, type FenceRow } from './fence-row.ts';
import { fences } from './fences.ts';
import { levelOf, scopesAround } from './scopes.ts';
import { tenantOrgs } from './tenant-orgs.ts';

const lifting: GovernedChange = 'fence.lift';

type Named = {
  call: Pick<GovernedCall, 'caller'>;
  intent: Pick<SealedIntent, 'action' | 'tool' | 'resource' | 'args'>;
};
type Called = Named & {
  /** The sets of fences that could stop the call, as `fenceSets` returns them. */
  fenceSets: readonly Wanted[];
};

/**
 * One set for each scope of fences that could stop the call, the widest first. `org` is the last known organisation of
 * the tenant. `currentOrg` compares it with the batch.
 */
export function fenceSets(
  { caller: { tenant, principal } }: Named['call'],
  intent: Named['intent'],
  org: OrgId | null,
) {
  return scopesAround({ tenant, principal, org, tools: toolsNamed(intent) }).map((scope) => wanted(fences, scope));
}

export function wantedFences({ call, fenceSets: sets }: Called): Wanted[] {
  return [wanted(tenantOrgs, call.caller.tenant), ...sets];
}

/**
 * The fences in force for this call at `nowMs`, widest first. The fence of the tenant is omitted when the call proposes
 * to lift it.
 */
export function fencesInForce(batch: LedgerBatch, called: Called, nowMs: number): FenceRow[] {
  const active: FenceRow[] = [];
  for (const set of called.fenceSets) {
    for (const fence of batch.rowsOf(fences, set)) {
      if (isInForce(fence, nowMs) && !isToBeLifted(fence, called)) active.push(inWindow(fence, nowMs));
    }
  }
  return active;
}

/**
 * A caller may propose to lift the fence of their own tenant, since it covers all people of the tenant, and otherwise
 * none of them could propose this. The request must state the current epoch of the fence. Another person must lift a
 * fence on the caller alone.
 */
function isToBeLifted({ scope, epoch }: FenceRow, { call: { caller }, intent }: Called): boolean {
  const { action, tool, resource } = intent;
  return (
    action === lifting &&
    tool === null &&
    scope === `tenant:${caller.tenant}` &&
    resource === fenceLiftResource({ scope, epoch })
  );
}

export function fenceFact(fence: FenceRow): FenceInForce {
  const { scope, kind, epoch, reason, callLimit, callsTaken } = fence;
  return {
    scope,
    level: levelOf(scope),
    kind,
    epoch,
    reason,
    calls_remaining: callLimit === null ? null : callLimit - callsTaken,
  };
}

/** Counts an allowed call in each of its throttles. */
export function takeOfThrottles(active: readonly FenceRow[]): Change[] {
  return active.filter(({ kind }) => kind === 'throttle').map((fence) => put(fences, withOneMore(fence)));
}
