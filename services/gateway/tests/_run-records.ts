import { createHash } from 'node:crypto';
import { canonicalize, type JsonValue } from '@countersign/crypto';
import { agentOf } from '@countersign/contracts';
import type { Run } from '@countersign/contracts/gateway';
import type { TestDatabase } from '@countersign/database/testing';
import { rowsOf, type Person } from './_gateway.ts';

/** The entries about runs in the log of a workspace, oldest first. `isAsked`: a request caused it. */
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

type Told = { type: string; data: Record<string, unknown> };

/** The events of a task and its run, by name. */
export function toldOf(database: TestDatabase, taskId: string): Promise<Told[]> {
  return rowsOf(
    database,
    `SELECT type, envelope::jsonb -> 'data' AS data FROM outbox WHERE envelope LIKE '%' || $1 || '%'
      ORDER BY type, envelope::jsonb -> 'data' ->> 'from'`,
    [taskId],
  );
}

/** The evidence of a run, its end last. */
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

/** The entries of the log that a run of one person has; `wrote` says what differs from one that went well. */
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
