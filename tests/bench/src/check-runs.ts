import type { Installation } from './installation.ts';
import { auditOfRun, receiptsOfRun, stepsOfRun } from './run-script.ts';
import { withAdmin } from './with-admin.ts';

/** A run as it was found afterwards; lists are in order. */
export type FoundRun = {
  id: string;
  status: string;
  steps: readonly string[];
  /** The decisions of its steps, each counted once: none belongs to two steps. */
  decisions: number;
  audit: readonly string[];
  /** Sealed by the kernel in the session of the run. */
  receipts: readonly string[];
};

export type RunsCheck = { runs: number; steps: number; receipts: number; toolCalls: number };

type Expected = { runs: number; toolCalls: number };

const faultsTold = 5;

/** Holds what was made of the runs against what had to be made. Throws when one was lost, or any part of one done twice. */
export async function checkRuns(installation: Installation, { runs, toolCalls }: Expected): Promise<RunsCheck> {
  const found = await readRuns(installation);
  const faults = faultsOf(found, { runs, toolCalls });
  if (faults.length > 0) {
    const told = faults.slice(0, faultsTold).join('; ');
    throw new Error(`The queued runs are not done once each, ${faults.length} faults: ${told}`);
  }
  return { runs, steps: runs * stepsOfRun.length, receipts: runs * receiptsOfRun.length, toolCalls };
}

/** Each run that is not exactly as it has to be, and each run or call of a tool too many or too few. */
export function faultsOf(found: readonly FoundRun[], { runs, toolCalls }: Expected): string[] {
  const totals = [
    ...(found.length === runs ? [] : [`${found.length} runs of ${runs}`]),
    ...(toolCalls === runs ? [] : [`${toolCalls} calls reached the tool for ${runs} runs`]),
  ];
  return [...totals, ...found.flatMap(faultsOfRun)];
}

function faultsOfRun({ id, status, steps, decisions, audit, receipts }: FoundRun): string[] {
  const differing = [
    differenceOf('status', [status], ['completed']),
    differenceOf('steps', steps, stepsOfRun),
    differenceOf('decisions', [String(decisions)], [String(stepsOfRun.length)]),
    differenceOf('audit', audit, auditOfRun),
    differenceOf('receipts', receipts, receiptsOfRun),
  ];
  return differing.filter((difference) => difference !== null).map((difference) => `${id}: ${difference}`);
}

function differenceOf(what: string, is: readonly string[], mustBe: readonly string[]): string | null {
  return is.join() === mustBe.join() ? null : `${what} ${is.join(', ') || 'none'} instead of ${mustBe.join(', ')}`;
}

/** The records of gateway and kernel, two databases that describe the same runs. */
async function readRuns({ database, kernelDatabase }: Installation): Promise<FoundRun[]> {
  const { rows } = await withAdmin(
    database.adminUrl,
    (client) =>
      client.query<Omit<FoundRun, 'receipts'>>(
        `SELECT runs.id, runs.status, coalesce(made.steps, '{}') AS steps, coalesce(made.decisions, 0) AS decisions,
                coalesce(told.audit, '{}') AS audit
           FROM runs
           LEFT JOIN (SELECT run_id, array_agg(kind || ' ' || state || ' ' || coalesce(verdict, error_code, '-') ORDER BY seq) AS steps,
                             count(DISTINCT decision_id)::int AS decisions
                        FROM run_steps GROUP BY run_id) made ON made.run_id = runs.id
           LEFT JOIN (SELECT coalesce(details::json->>'runId', subject) AS run_id, array_agg(action ORDER BY seq) AS audit
                        FROM audit_entries WHERE action LIKE 'run.%' OR action LIKE 'step.%' GROUP BY 1) told ON told.run_id = runs.id`,
      ),
    'gateway',
  );
  const receipts = await readReceipts(kernelDatabase.adminUrl);
  return rows.map((run) => ({ ...run, receipts: receipts.get(run.id) ?? [] }));
}

async function readReceipts(adminUrl: string): Promise<Map<string, string[]>> {
  const { rows } = await withAdmin(adminUrl, (client) =>
    client.query<{ session: string; receipts: string[] }>(
      `SELECT session_id AS session, array_agg(kind || ' ' || action || ' ' || verdict ORDER BY lamport_clock) AS receipts
         FROM ledger WHERE session_id LIKE 'run\\_%' GROUP BY tenant_id, session_id`,
    ),
  );
  return new Map(rows.map(({ session, receipts }) => [session, receipts]));
}
