import { setTimeout as delay } from 'node:timers/promises';
import type { TestDatabase } from '@countersign/database/testing';
import { countMessages } from '@countersign/messaging/testing';
import type { Installation } from './_installation.ts';
import { rowsOf } from './_rows.ts';
import type { StartedRun } from './_workload.ts';

const ofGateway = {
  'runs that wait or run': `SELECT id FROM runs WHERE status IN ('queued', 'running')`,
  'unsettled steps': `SELECT id FROM run_steps WHERE state = 'submitted'`,
  'unanswered approvals': `SELECT approvals.id FROM approvals WHERE status = 'pending' AND run_id <> $1`,
  'events of the gateway that were not sent': `SELECT id FROM outbox WHERE sent_at IS NULL`,
} as const;
const ofKernel = {
  'calls without an outcome': `SELECT ulid AS id FROM dispatches`,
  'amounts that are still held': `SELECT budget_id AS id FROM budgets WHERE reserved_spend_micros > 0 OR reserved_tool_calls > 0 OR reserved_writes > 0`,
  'events of the kernel that were not sent': `SELECT id FROM outbox WHERE sent_at IS NULL`,
} as const;

type Resting = Pick<Installation, 'databases' | 'broker' | 'assertLives'>;
const lookEveryMs = 1_000;

/** Waits until no work of the runs is open, except for the run without an approver. */
export async function untilQuiet(
  installation: Resting,
  { started, withinMs }: { started: readonly StartedRun[]; withinMs: number },
): Promise<void> {
  const undecided = started.find(({ plot }) => plot === 'asks nobody')?.runId ?? '';
  const giveUpAt = Date.now() + withinMs;
  for (;;) {
    installation.assertLives();
    const unrest = await unrestOf(installation, undecided).catch((error: unknown) => [String(error)]);
    if (unrest.length === 0) return;
    // Ends a wait that would otherwise never end.
    if (Date.now() > giveUpAt) throw new Error(`Still open after ${withinMs} ms: ${unrest.join('; ')}`);
    await delay(lookEveryMs); // between two checks of the state
  }
}

/**
 * The open work. It must become empty while all parts are up. `undecided` is the run that may keep waiting for its
 * approval.
 */
async function unrestOf(
  { databases, broker }: Pick<Installation, 'databases' | 'broker'>,
  undecided: string,
): Promise<string[]> {
  const ofDatabases = [
    ...(await countedIn(databases.gateway, ofGateway, undecided)),
    ...(await countedIn(databases.kernel, ofKernel, undecided)),
  ];
  if (ofDatabases.length > 0) return ofDatabases;
  const ofBroker: string[] = [];
  for (const queue of broker.queues) {
    const { waiting, dead } = await countMessages(broker.url, queue);
    if (waiting > 0) ofBroker.push(`messages in ${queue}: ${waiting}`);
    if (dead > 0) ofBroker.push(`dead letters of ${queue}: ${dead}`);
  }
  return ofBroker;
}

async function countedIn(database: TestDatabase, kinds: Record<string, string>, undecided: string): Promise<string[]> {
  const counts = Object.entries(kinds).map(
    ([what, text]) => `SELECT '${what}' AS what, count(*)::int AS count FROM (${text}) AS found`,
  );
  const text = `SELECT * FROM (${counts.join(' UNION ALL ')}) AS counted WHERE count > 0 AND $1::text IS NOT NULL`;
  const rows = await rowsOf<{ what: string; count: number }>(database, text, [undecided]);
  return rows.map(({ what, count }) => `${what}: ${count}`);
}
