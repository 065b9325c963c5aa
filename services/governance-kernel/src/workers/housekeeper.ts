import { repeat, type ClockGuard, type Log, type Repeated } from '@countersign/service-kit';
import type { ApprovalKey } from '../controls/approvals/seal-move.ts';

type HousekeeperDeps = {
  /** Pending approvals whose time has passed, earliest expiry first. */
  listOverdueApprovals(now: Date, limit: number): Promise<ApprovalKey[]>;
  /** Pending and unused approvals whose policy was replaced. */
  listOutdatedApprovals(now: Date, limit: number): Promise<ApprovalKey[]>;
  expireApproval(key: ApprovalKey): Promise<void>;
  /** Removes expired rows, by the clock of the database. */
  forgetRows(): Promise<void>;
  recordKeyUses(): Promise<void>;
  clock: () => Date;
  clockGuard: Pick<ClockGuard, 'isNear'>;
  log: Log;
  intervalMs: number;
};

type Housekeeper = Repeated & { run(): Promise<void> };

/** The limit per run, so that a backlog does not delay live decisions. */
const expiriesPerRun = 100;

/**
 * Ends approvals that have expired or whose policy was replaced, and notifies the waiting callers. Also removes expired
 * rows and stores when keys were used.
 */
export function startHousekeeper(deps: HousekeeperDeps): Housekeeper {
  const run = async () => {
    const now = deps.clock();
    for (const key of await deps.listOverdueApprovals(now, expiriesPerRun)) await deps.expireApproval(key);
    for (const key of await deps.listOutdatedApprovals(now, expiriesPerRun)) await deps.expireApproval(key);
    await deps.forgetRows();
    await deps.recordKeyUses();
  };
  const { intervalMs, clockGuard, log } = deps;
  const onFailure = (error: unknown) => log.warn('housekeeper.failed', { error });
  return { run, ...repeat({ run, intervalMs, clockGuard, onFailure }) };
}
