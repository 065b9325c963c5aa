import { isAppError } from '@countersign/contracts';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { repeat, type ClockGuard, type Log, type Repeated } from '@countersign/service-kit';
import type { Abandoned } from '../boundary/settle-abandoned.ts';
import type { OverdueQuery } from '../store/dispatch-store.ts';

type ReconcilerParts = {
  /** Seals the outcomes that this process knows and could not seal before. */
  sealKept(): Promise<void>;
  /** Stores the answers that this process has and could not store before. */
  storeHeld(): Promise<void>;
  /** ULIDs of the calls that are on their way in this process: late or not, they will be settled by it. */
  live(): readonly string[];
  /** Decisions whose dispatch passed its deadline without an outcome, oldest first. */
  listOverdue(query: OverdueQuery): Promise<Abandoned[]>;
  settleAbandoned(abandoned: Abandoned): Promise<StoredReceipt>;
  clock: () => Date;
  clockGuard: Pick<ClockGuard, 'isNear'>;
  log: Log;
  intervalMs: number;
};

/** Few enough that a backlog does not push live decisions aside. */
const settlementsPerRun = 100;

type Reconciler = Repeated & { run(): Promise<number> };

/**
 * Settles what was left open. These are outcomes that could not be sealed when they came, and decisions without an
 * outcome after a crash, which are sealed as uncertain and release their reservations.
 */
export function startReconciler(parts: ReconcilerParts): Reconciler {
  const run = async () => {
    await Promise.all([parts.sealKept(), parts.storeHeld()]);
    const overdue = await parts.listOverdue({ now: parts.clock(), limit: settlementsPerRun, except: parts.live() });
    for (const abandoned of overdue) await settleUncertain(parts, abandoned);
    return overdue.length;
  };
  const { intervalMs, clockGuard, log } = parts;
  const onFailure = (error: unknown) => log.warn('reconciler.failed', { error });
  return { run, ...repeat({ run, intervalMs, clockGuard, onFailure }) };
}

async function settleUncertain({ settleAbandoned, log }: ReconcilerParts, abandoned: Abandoned): Promise<void> {
  const { decided } = abandoned;
  try {
    const receipt = await settleAbandoned(abandoned);
    log.warn('dispatch.uncertain', { decision_id: decided.decision_id, receipt_id: receipt.payload.receipt_id });
  } catch (error) {
    // Another replica, or the late answer itself, was faster.
    if (isAppError(error) && error.code === 'ILLEGAL_TRANSITION') return;
    // One that cannot be settled must not keep all later ones waiting.
    log.error('dispatch.unsettled', { decision_id: decided.decision_id, error });
  }
}
