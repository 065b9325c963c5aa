import { AppError, type PrincipalId, type TenantId } from '@countersign/contracts';
import type { Fence, FenceScope } from '@countersign/contracts/governance-kernel';
import type { NewEvent } from '@countersign/messaging';
import type { ClockGuard } from '@countersign/service-kit';
import { fenceSetEvent } from '../events.ts';
import { put, wanted } from '../ledger/control.ts';
import { risingMove } from '../policy/rising-version.ts';
import { settingStatement, type SettingParts } from '../policy/setting-statement.ts';
import type { FenceRow } from './fence-row.ts';
import { fenceCommands, fences } from './fences.ts';
import { canonicalScope, tenantOf } from './scopes.ts';
import { ownSession } from '../ledger/own-sessions.ts';

type FenceCommand = Pick<Fence, 'kind' | 'epoch' | 'reason' | 'call_limit' | 'window_seconds' | 'expires_at'> & {
  scope: FenceScope;
  set_by: PrincipalId;
};

type Parts = SettingParts & { newEvent: NewEvent; clockGuard: Pick<ClockGuard, 'assertNear'> };

/**
 * Sets or lifts a fence and seals that, or confirms the current one. Throws ILLEGAL_TRANSITION for an epoch that does
 * not rise, and END_PASSED for a new fence that has ended. A refused end is not sealed, so the clock is compared
 * before.
 */
export async function setFence(parts: Parts, command: FenceCommand): Promise<FenceRow> {
  if (command.expires_at !== null) await parts.clockGuard.assertNear();
  const scope = canonicalScope(command.scope);
  const nowMs = parts.clock().getTime();
  const tenant = tenantOf(scope) ?? ('system' as TenantId); // its chain tells of all that is no tenant's
  const session = ownSession('fences');
  return await parts.ledger.submit({
    chain: { tenant, session },
    wants: [wanted(fenceCommands, scope), wanted(fences, scope)],
    conclude: (batch) => {
      const standing = batch.row(fences, scope);
      const fence = fenceUnder(command, { scope, standing, nowMs });
      const move = risingMove(
        standing === null ? null : { version: standing.epoch },
        { version: fence.epoch },
        () => standing !== null && isSame(standing, fence),
        'epoch',
      );
      if (move === 'confirm' && standing !== null) return () => standing;
      assertToCome(fence, nowMs);
      const said = {
        tenant,
        session,
        by: fence.setBy,
        nowMs,
        action: 'fence.set',
        resource: `fence:${scope}`,
      } as const;
      batch.seal(settingStatement(parts, { ...said, setting: settingOf(fence) }), () => ({
        changes: [put(fenceCommands, fence), put(fences, fence)],
        events: [fenceSetEvent(parts, fence)],
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

type Standing = { scope: FenceScope; standing: FenceRow | null; nowMs: number };

/** A throttle whose window stays counts on: giving the command again lets no more calls through. */
function fenceUnder(command: FenceCommand, { scope, standing, nowMs }: Standing): FenceRow {
  const countsOn = standing !== null && standing.windowSeconds === command.window_seconds;
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
    callsTaken: countsOn ? standing.callsTaken : 0,
    windowEndsAtMs: countsOn ? standing.windowEndsAtMs : null,
    revision: standing?.revision ?? 0,
  };
}

function isSame(standing: FenceRow, wanted: FenceRow): boolean {
  const told = (fence: FenceRow) => JSON.stringify(settingOf(fence));
  return told(standing) === told(wanted);
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
