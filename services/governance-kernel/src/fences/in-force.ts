import type { FenceInForce } from '@countersign/policy';
import type { GovernedCall } from '../call/governed-call.ts';
import type { SealedIntent } from '../call/normalise.ts';
import { toolsNamed } from '../call/tools-named.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { put, wanted, type Change, type Wanted } from '../ledger/control.ts';
import { inWindow, isInForce, withOneMore, type FenceRow } from './fence-row.ts';
import { fences } from './fences.ts';
import { levelOf, scopesAround } from './scopes.ts';

type Called = { call: Pick<GovernedCall, 'caller'>; intent: Pick<SealedIntent, 'action' | 'tool' | 'args'> };

export function wantedFences(called: Called): Wanted[] {
  return scopesOf(called).map((scope) => wanted(fences, scope));
}

/** The fences around this call that stand at `nowMs`, the widest first. */
export function fencesInForce(batch: LedgerBatch, called: Called, nowMs: number): FenceRow[] {
  return scopesOf(called).flatMap((scope) =>
    batch
      .rows(fences, scope)
      .filter((fence) => isInForce(fence, nowMs))
      .map((fence) => inWindow(fence, nowMs)),
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

/** What an ALLOW takes of each throttle around it. */
export function takeOfThrottles(standing: readonly FenceRow[]): Change[] {
  return standing.filter(({ kind }) => kind === 'throttle').map((fence) => put(fences, withOneMore(fence)));
}

function scopesOf({ call: { caller }, intent }: Called) {
  return scopesAround({ ...caller, tools: toolsNamed(intent) });
}
