import { repeat, type ClockGuard, type Log, type Repeated } from '@countersign/service-kit';
import type { ApprovalKey } from '../approvals/seal-move.ts';

type HousekeeperParts = {
  /** Approvals without a decision in time, oldest first. */
  listOverdueApprovals(now: Date, limit: number): Promise<ApprovalKey[]>;
  /** Pending and unused approvals whose policy was replaced. */
  listOutdatedApprovals(now: Date, limit: number): Promise<ApprovalKey[]>;
  expireApproval(key: ApprovalKey): Promise<void>;
  /** Removes rows that have had their time, by the clock of the database. */
  forgetRows(): Promise<void>;
  recordKeyUses(): Promise<void>;
  clock: () => Date;
  clockGuard: Pick<ClockGuard, 'isNear'>;
  log: Log;
  intervalMs: number;
};

type Housekeeper = Repeated & { run(): Promise<void> };

/** Few enough that a backlog does not push live decisions aside. */
const expiriesPerRun = 100;

/** Ends what time or a new policy has ended: the waiting caller learns of the expiry of an approval that has no vote. */
export function startHousekeeper(parts: HousekeeperParts): Housekeeper {
  const run = async () => {
    const now = parts.clock();
    for (const key of await parts.listOverdueApprovals(now, expiriesPerRun)) await parts.expireApproval(key);
    for (const key of await parts.listOutdatedApprovals(now, expiriesPerRun)) await parts.expireApproval(key);
    await parts.forgetRows();
    await parts.recordKeyUses();
  };
  const { intervalMs, clockGuard, log } = parts;
  const onFailure = (error: unknown) => log.warn('housekeeper.failed', { error });
  return { run, ...repeat({ run, intervalMs, clockGuard, onFailure }) };
}
