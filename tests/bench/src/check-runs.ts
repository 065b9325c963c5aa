import type { Installation } from './installation.ts';
import { auditOfRun, receiptsOfRun, stepsOfRun } from './run-script.ts';
import { withAdmin } from './with-admin.ts';

/** A run as it was found after the bench. Its lists are in order. */
export type FoundRun = {
  id: string;
  status: string;
  steps: readonly string[];
  /** The number of distinct decisions of its steps. No decision may belong to two steps. */
  decisions: number;
  audit: readonly string[];
  /** The receipts that the kernel sealed in the session of the run. */
  receipts: readonly string[];
};

export type RunsCheck = { runs: number; steps: number; receipts: number; toolCalls: number };

type Expected = { runs: number; toolCalls: number };

const faultsTold = 5;

/** Compares the runs with the expected ones. Throws when a run was lost, or any part of a run was done twice. */
export async function checkRuns(installation: Installation, { runs, toolCalls }: Expected): Promise<RunsCheck> {
  const found = await readRuns(installation);
  const faults = faultsOf(found, { runs, toolCalls });
  if (faults.length > 0) {
    const message = faults.slice(0, faultsTold).join('; ');
    throw new Error(`The check of the queued runs found ${faults.length} faults: ${message}`);
  }
  return { runs, steps: runs * stepsOfRun.length, receipts: runs * receiptsOfRun.length, toolCalls };
}

/** Each run that differs from its expected state, and each missing or surplus run or tool call. */
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

/** Reads the runs from the databases of gateway and kernel. */
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
