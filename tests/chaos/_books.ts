import type { Verdict } from '@countersign/contracts';
import type { Outcome } from '@countersign/contracts/governance-kernel';
import type { RunStatus, TaskStatus } from '@countersign/contracts/gateway';
import type { Installation } from './_installation.ts';
import { rowsOf } from './_rows.ts';

type Run = {
  id: string;
  title: string;
  status: RunStatus;
  task_status: TaskStatus;
  iterations_used: number;
  error_code: string | null;
  /** The number of audit entries about the end of the run. */
  endings: number;
};
export type Step = {
  id: string;
  run_id: string;
  kind: 'model_call' | 'tool_call';
  state: 'submitted' | 'parked' | 'settled';
  args: string;
  verdict: Verdict | null;
  decision_id: string | null;
  output: string | null;
  error_code: string | null;
  /** The receipts of the step that were stored as verified. */
  receipts: string[];
  approvals: number;
};
type Decision = { id: string; session_id: string; verdict: Verdict; action: string; outcomes: Outcome[] };
/** A key under which a step was sent to the kernel, and the decision for that key. */
type Key = { key: string; decision_id: string };

/** All records of gateway and kernel about the runs. */
export type Books = { runs: Run[]; steps: Step[]; decisions: Decision[]; keys: Key[] };

export async function readBooks({ databases: { gateway, kernel } }: Pick<Installation, 'databases'>): Promise<Books> {
  return {
    runs: await rowsOf<Run>(
      gateway,
      `SELECT runs.id, title, runs.status, tasks.status AS task_status, iterations_used, error_code,
              (SELECT count(*)::int FROM audit_entries WHERE subject = runs.id
                  AND action = ANY (ARRAY['run.completed', 'run.failed', 'run.denied', 'run.cancelled', 'run.budget_exhausted'])) AS endings
         FROM runs JOIN tasks ON tasks.id = task_id`,
    ),
    steps: await rowsOf<Step>(
      gateway,
      `SELECT id, run_id, kind, state, args, verdict, decision_id, output, error_code,
              ARRAY(SELECT decision_id FROM receipts WHERE step_id = run_steps.id AND verification = 'verified') AS receipts,
              (SELECT count(*)::int FROM approvals WHERE step_id = run_steps.id) AS approvals
         FROM run_steps ORDER BY run_id, seq`,
    ),
    decisions: await rowsOf<Decision>(
      kernel,
      `SELECT 'dec_' || ulid AS id, session_id, verdict, action,
              ARRAY(SELECT payload::json->>'outcome' FROM ledger AS outcome WHERE outcome.kind = 'outcome'
                       AND outcome.session_id = ledger.session_id AND outcome.payload::json->>'decision_id' = 'dec_' || ledger.ulid) AS outcomes
         FROM ledger WHERE kind = 'decision' AND session_id LIKE 'run\\_%'`,
    ),
    keys: await rowsOf<Key>(
      kernel,
      `SELECT key, 'dec_' || ulid AS decision_id FROM idempotency_keys WHERE ulid IS NOT NULL AND key LIKE 'stp\\_%'`,
    ),
  };
}
