import { isAppError } from '@countersign/contracts';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { repeat, type ClockGuard, type Log, type Repeated } from '@countersign/service-kit';
import type { Abandoned } from '../decision/settle-abandoned.ts';
import type { OverdueQuery } from '../store/dispatch-store.ts';

type ReconcilerDeps = {
  /** Seals outcomes that this process could not seal before. */
  sealKept(): Promise<void>;
  /** Stores answers that this process could not store before. */
  storeHeld(): Promise<void>;
  /** ULIDs of the calls in progress in this process, which will settle them itself. */
  live(): readonly string[];
  /** Decisions whose dispatch passed its deadline without an outcome, oldest first. */
  listOverdue(query: OverdueQuery): Promise<Abandoned[]>;
  settleAbandoned(abandoned: Abandoned): Promise<StoredReceipt>;
  clock: () => Date;
  clockGuard: Pick<ClockGuard, 'isNear'>;
  log: Log;
  intervalMs: number;
};

/** The limit per run, so that a backlog does not delay live decisions. */
const settlementsPerRun = 100;

type Reconciler = Repeated & { run(): Promise<number> };

/**
 * Settles open outcomes: those that could not be sealed earlier, and decisions without an outcome after a crash, which
 * are sealed as uncertain and release their reservations.
 */
export function startReconciler(deps: ReconcilerDeps): Reconciler {
  const run = async () => {
    await Promise.all([deps.sealKept(), deps.storeHeld()]);
    const overdue = await deps.listOverdue({ now: deps.clock(), limit: settlementsPerRun, except: deps.live() });
    for (const abandoned of overdue) await settleUncertain(deps, abandoned);
    return overdue.length;
  };
  const { intervalMs, clockGuard, log } = deps;
  const onFailure = (error: unknown) => log.warn('reconciler.failed', { error });
  return { run, ...repeat({ run, intervalMs, clockGuard, onFailure }) };
}

async function settleUncertain({ settleAbandoned, log }: ReconcilerDeps, abandoned: Abandoned): Promise<void> {
  const { decided } = abandoned;
  try {
    const receipt = await settleAbandoned(abandoned);
    log.warn('dispatch.uncertain', { decision_id: decided.decision_id, receipt_id: receipt.payload.receipt_id });
  } catch (error) {
    // Another replica, or the late answer of the call, has settled it first.
    if (isAppError(error) && error.code === 'ILLEGAL_TRANSITION') return;
    // A decision that cannot be settled must not delay later ones.
    log.error('dispatch.unsettled', { decision_id: decided.decision_id, error });
  }
}
