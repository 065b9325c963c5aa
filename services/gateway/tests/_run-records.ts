import { createHash } from 'node:crypto';
import { canonicalize, type JsonValue } from '@countersign/crypto';
import { agentOf } from '@countersign/contracts';
import type { Run } from '@countersign/contracts/gateway';
import type { TestDatabase } from '@countersign/database/testing';
import { rowsOf, type Person } from './_gateway.ts';

/**
 * Returns the audit entries about runs of a workspace, oldest first. `isAsked` is true when a request caused the entry.
 */
export async function logOf({ client }: Person) {
  const { body } = await client.listAudit({ query: { limit: 100 } });
  return body.data
    .filter(({ action }) => /^(run|step|approval)\./.test(action))
    .map(({ action, actor, verdict, reason, subject, details, requestId }) => ({
      ...{ action, actor, verdict, reason, subject, details },
      isAsked: requestId !== null,
    }))
    .reverse();
}

type Report = { type: string; data: Record<string, unknown> };

/** Returns the events of a task and its run, by name. */
export function toldOf(database: TestDatabase, taskId: string): Promise<Report[]> {
  return rowsOf(
    database,
    `SELECT type, envelope::jsonb -> 'data' AS data FROM outbox WHERE envelope LIKE '%' || $1 || '%'
      ORDER BY type, envelope::jsonb -> 'data' ->> 'from'`,
    [taskId],
  );
}

/** Returns the evidence of a run. The end of the run comes last. */
export async function evidenceOf(database: TestDatabase, runId: string) {
  return rowsOf<Record<string, unknown>>(
    database,
    `SELECT workspace_id AS "workspaceId", task_id AS "taskId", step_id AS "stepId", kind, content_hash AS "contentHash", metadata
       FROM evidence_items WHERE run_id = $1 ORDER BY kind = 'run_ended', id`,
    [runId],
  );
}

export function evidenceHash(content: JsonValue): string {
  return `sha256:${createHash('sha256').update(canonicalize(content)).digest('hex')}`;
}

/**
 * Returns the expected audit entries of a run of one person. `wrote` contains the differences from a successful entry.
 */
export function entriesOf({ user, workspace }: Person) {
  const actor = agentOf(workspace.id);
  const entryOf = ({ id: subject, taskId }: Run, action: string, wrote: object = {}) => ({
    ...{ action, actor, verdict: 'allow', reason: 'ok', subject, details: { taskId }, isAsked: false },
    ...wrote,
  });
  const stepEntryOf = (run: Run, at: number, wrote: object = {}) => {
    const { id, kind, tool = null, decisionId = null, receiptId = null } = run.steps[at] ?? {};
    const details = { runId: run.id, tool, decisionId, receiptId };
    return entryOf(run, `step.${kind}`, { subject: id, reason: 'ALLOWED', details, ...wrote });
  };
  const begun = (run: Run) => [
    entryOf(run, 'run.enqueued', { actor: user.id, isAsked: true }),
    entryOf(run, 'run.running', { details: {} }),
  ];
  return { entryOf, stepEntryOf, begun };
}
