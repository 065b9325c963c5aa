import { isWidened } from '@countersign/what-if';
import { ledgerEntriesMax, listLedgerEntries, type LedgerEntry } from '@countersign/contracts/governance-kernel';
import type { WorkspaceId } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { tenantOf } from '../siblings/tenant-of.ts';
import { noteRead, type LaneHour } from '../store/shadow-hours.ts';

/** The number of pages of records of one workspace that are read before other workspaces are served. */
const pagesAtOnce = 20;
const hourMs = 3_600_000;

type Counting = Pick<Context, 'kernel' | 'transaction' | 'now'>;
type Reading = { workspaceId: WorkspaceId; place: number };

/** Continues to count the verdicts of the drafts of a workspace, from the place where the last pass ended. */
export async function countRecords(context: Counting, reading: Reading): Promise<void> {
  const { workspaceId } = reading;
  const client = context.kernel.own({ listLedgerEntries });
  let { place } = reading;
  for (let page = 0; page < pagesAtOnce; page += 1) {
    const query = { from: place, limit: ledgerEntriesMax };
    const { data } = (await client.listLedgerEntries({ params: { tenant: tenantOf(workspaceId) }, query })).body;
    const next = (data.at(-1)?.receipt.log_index ?? place - 1) + 1;
    const counted = { hours: hoursOf(data), next, now: context.now() };
    const isFirst = await context.transaction((tx) => noteRead(tx, { workspaceId, place }, counted));
    if (!isFirst || data.length < ledgerEntriesMax) return;
    place = next;
  }
}

/** The counts of verdicts per lane and hour. Like reports, they cover only decisions that had an effect. */
function hoursOf(entries: readonly LedgerEntry[]): LaneHour[] {
  const hours = new Map<string, LaneHour>();
  for (const { receipt, record } of entries) {
    if (record === null || record.kind !== 'decision' || receipt.payload.shadow) continue;
    const hour = new Date(Math.floor(Date.parse(record.created_at) / hourMs) * hourMs);
    for (const verdicts of record.shadow) {
      const key = `${verdicts.lane} ${verdicts.policy_hash} ${hour.getTime()}`;
      const counted = hours.get(key) ?? none({ lane: verdicts.lane, policyHash: verdicts.policy_hash, hour });
      hours.set(key, withOne(counted, { before: record.verdict, after: verdicts.verdict }));
    }
  }
  return [...hours.values()];
}

function none(of: Pick<LaneHour, 'lane' | 'policyHash' | 'hour'>): LaneHour {
  return { ...of, decisions: 0, diverged: 0, widened: 0, faults: 0 };
}

type ShadowVerdicts = {
  before: LedgerEntry['receipt']['payload']['verdict'];
  after: LedgerEntry['receipt']['payload']['verdict'] | null;
};

function withOne(counted: LaneHour, { before, after }: ShadowVerdicts): LaneHour {
  const { decisions, diverged, widened, faults } = counted;
  const more = (isOne: boolean) => (isOne ? 1 : 0);
  return {
    ...counted,
    decisions: decisions + 1,
    faults: faults + more(after === null),
    diverged: diverged + more(after !== null && after !== before),
    widened: widened + more(after !== null && isWidened({ before, after })),
  };
}
