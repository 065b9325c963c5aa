import { AppError, type PrincipalId } from '@countersign/contracts';
import type { Fence, FenceScope } from '@countersign/contracts/governance-kernel';
import type { NewEvent } from '@countersign/messaging';
import type { ClockGuard } from '@countersign/service-kit';
import { fenceSetEvent } from '../../events.ts';
import { put, wanted } from '../../ledger/control.ts';
import { risingMove } from '../policy/rising-version.ts';
import { settingStatement, type SettingDeps } from '../policy/setting-statement.ts';
import type { FenceRow } from './fence-row.ts';
import { fenceCommands, fences } from './fences.ts';
import { canonicalScope, tenantOf } from './scopes.ts';
import { ownSession, systemTenant } from '../../ledger/own-sessions.ts';

type FenceCommand = Pick<Fence, 'kind' | 'epoch' | 'reason' | 'call_limit' | 'window_seconds' | 'expires_at'> & {
  scope: FenceScope;
  set_by: PrincipalId;
};

type Deps = SettingDeps & { newEvent: NewEvent; clockGuard: Pick<ClockGuard, 'assertNear'> };

/**
 * Sets or lifts a fence and seals the change, or confirms the current fence. Throws ILLEGAL_TRANSITION for an epoch
 * that does not rise, and END_PASSED for a new fence whose end has passed. A refusal is not sealed, so the database
 * does not check the kernel's clock for it. The clocks are therefore compared beforehand.
 */
export async function setFence(deps: Deps, command: FenceCommand): Promise<FenceRow> {
  if (command.expires_at !== null) await deps.clockGuard.assertNear();
  const scope = canonicalScope(command.scope);
  const nowMs = deps.clock().getTime();
  const tenant = tenantOf(scope) ?? systemTenant; // its chain records all scopes without a tenant
  const session = ownSession('fences');
  return await deps.ledger.submit({
    chain: { tenant, session },
    wants: [wanted(fenceCommands, scope), wanted(fences, scope)],
    conclude: (batch) => {
      const current = batch.row(fences, scope);
      const fence = fenceUnder(command, { scope, current, nowMs });
      const move = risingMove(
        current === null ? null : { version: current.epoch },
        { version: fence.epoch },
        () => current !== null && isSame(current, fence),
        'epoch',
      );
      if (move === 'confirm' && current !== null) return () => current;
      assertToCome(fence, nowMs);
      const statement = {
        tenant,
        session,
        by: fence.setBy,
        nowMs,
        action: 'fence.set',
        resource: `fence:${scope}`,
      } as const;
      batch.seal(settingStatement(deps, { ...statement, setting: settingOf(fence) }), () => ({
        changes: [put(fenceCommands, fence), put(fences, fence)],
        events: [fenceSetEvent(deps, fence)],
      }));
      return () => fence;
    },
  });
}

function assertToCome({ expiresAtMs }: FenceRow, nowMs: number): void {
  if (expiresAtMs === null || expiresAtMs > nowMs) return;
  const end = new Date(expiresAtMs).toISOString();
  throw new AppError('END_PASSED', `expires_at is ${end}, which has passed, so this fence would stop nothing`, {
    param: 'expires_at',
  });
}

type CurrentState = { scope: FenceScope; current: FenceRow | null; nowMs: number };

/** A throttle keeps its count while its window is unchanged, so repeating the command permits no more calls. */
function fenceUnder(command: FenceCommand, { scope, current, nowMs }: CurrentState): FenceRow {
  const countsOn = current !== null && current.windowSeconds === command.window_seconds;
  return {
    scope,
    kind: command.kind,
    reason: command.reason,
    epoch: command.epoch,
    callLimit: command.call_limit,
    windowSeconds: command.window_seconds,
    effectiveAtMs: nowMs,
    expiresAtMs: command.expires_at === null ? null : Date.parse(command.expires_at),
    setBy: command.set_by,
    callsTaken: countsOn ? current.callsTaken : 0,
    windowEndsAtMs: countsOn ? current.windowEndsAtMs : null,
    revision: current?.revision ?? 0,
  };
}

function isSame(current: FenceRow, wanted: FenceRow): boolean {
  const textOf = (fence: FenceRow) => JSON.stringify(settingOf(fence));
  return textOf(current) === textOf(wanted);
}

function settingOf({ kind, reason, epoch, callLimit, windowSeconds, expiresAtMs }: FenceRow) {
  return {
    kind,
    reason,
    epoch,
    call_limit: callLimit,
    window_seconds: windowSeconds,
    expires_at: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
  };
}
