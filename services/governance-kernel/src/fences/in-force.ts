import { toolsNamed, type FenceInForce } from '@countersign/policy';
import { fenceLiftResource, type GovernedChange, type OrgId } from '@countersign/contracts/governance-kernel';
import type { GovernedCall } from '../call/governed-call.ts';
import type { SealedIntent } from '../call/normalise.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { put, wanted, type Change, type Wanted } from '../ledger/control.ts';
import { inWindow, isInForce, withOneMore, type FenceRow } from './fence-row.ts';
import { fences } from './fences.ts';
import { levelOf, scopesAround } from './scopes.ts';
import { tenantOrgs } from './tenant-orgs.ts';

const lifting: GovernedChange = 'fence.lift';

type Called = {
  call: Pick<GovernedCall, 'caller'>;
  /** The last known organisation of the tenant: `movedOrg` says when it is another. */
  org: OrgId | null;
  intent: Pick<SealedIntent, 'action' | 'tool' | 'resource' | 'args'>;
};

export function wantedFences(called: Called): Wanted[] {
  const ofScopes = scopesOf(called).map((scope) => wanted(fences, scope));
  return [wanted(tenantOrgs, called.call.caller.tenant), ...ofScopes];
}

/** The organisation that the tenant belongs to now, where it is not the one whose fences were read. */
export function movedOrg(batch: LedgerBatch, { call, org }: Pick<Called, 'call' | 'org'>): OrgMoved | null {
  const now = batch.row(tenantOrgs, call.caller.tenant)?.org ?? null;
  return now === org ? null : { kind: 'org_moved', org: now };
}

/** The fences around the call were not those of its organisation: come back with these. */
export type OrgMoved = { kind: 'org_moved'; org: OrgId | null };

/** The fences around this call that stop it at `nowMs`, the widest first: all that stand there, but for the one that it asks to lift. */
export function fencesInForce(batch: LedgerBatch, called: Called, nowMs: number): FenceRow[] {
  return scopesOf(called).flatMap((scope) =>
    batch
      .rows(fences, scope)
      .filter((fence) => isInForce(fence, nowMs) && !isToBeLifted(fence, called))
      .map((fence) => inWindow(fence, nowMs)),
  );
}

/**
 * A caller inside a tenant's fence may propose to lift it, since all of its people are inside: otherwise the people
 * that it protects could never lift it. It must be the fence of the caller's own tenant, under the epoch that they saw.
 * Another person lifts a fence around the caller alone.
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

/** The effect of an ALLOW on each throttle around it. */
export function takeOfThrottles(standing: readonly FenceRow[]): Change[] {
  return standing.filter(({ kind }) => kind === 'throttle').map((fence) => put(fences, withOneMore(fence)));
}

function scopesOf({ call: { caller }, org, intent }: Called) {
  return scopesAround({ ...caller, org, tools: toolsNamed(intent) });
}
