import { repeat, type Log, type Repeated } from '@countersign/service-kit';
import type { ApprovalKey } from '../approvals/move-approval.ts';

type HousekeeperParts = {
  /** Approvals that nobody decided in time, oldest first. */
  listOverdueApprovals(now: Date, limit: number): Promise<ApprovalKey[]>;
  expireApproval(key: ApprovalKey): Promise<void>;
  forgetAnswers(now: Date): Promise<void>;
  forgetUsage(now: Date): Promise<void>;
  forgetChallenges(now: Date): Promise<void>;
  recordKeyUses(): Promise<void>;
  clock: () => Date;
  log: Log;
  intervalMs: number;
};

type Housekeeper = Repeated & { run(): Promise<void> };

/** Few enough that a backlog does not push live decisions aside. */
const expiriesPerRun = 100;

/** Ends what time has ended: whoever waits for an approval hears of its expiry although nobody touched it. */
export function startHousekeeper(parts: HousekeeperParts): Housekeeper {
  const run = async () => {
    const now = parts.clock();
    for (const key of await parts.listOverdueApprovals(now, expiriesPerRun)) await parts.expireApproval(key);
    await parts.forgetAnswers(now);
    await parts.forgetUsage(now);
    await parts.forgetChallenges(now);
    await parts.recordKeyUses();
  };
  const { intervalMs, log } = parts;
  return { run, ...repeat({ run, intervalMs, onFailure: (error) => log.warn('housekeeper.failed', { error }) }) };
}
