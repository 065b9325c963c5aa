import { createHash } from 'node:crypto';
import { canonicalize, type JsonValue } from '@countersign/crypto';
import { newId } from '../ids.ts';
import type { Sql } from './sql.ts';

export type Evidence = {
  workspaceId: string;
  taskId?: string | null;
  runId?: string | null;
  stepId?: string | null;
  kind: 'task_created' | 'run_enqueued' | 'step_settled' | 'run_ended';
  /** What the evidence is about; only its hash is kept. */
  content: JsonValue;
  metadata: { [member: string]: JsonValue };
};

/** Evidence metadata: a hash of the content and facts about it, never the content. */
export async function recordEvidence(tx: Sql, evidence: Evidence, now: Date): Promise<void> {
  const hash = createHash('sha256').update(canonicalize(evidence.content)).digest('hex');
  await tx.query(
    `INSERT INTO evidence_items (id, workspace_id, task_id, run_id, step_id, kind, content_hash, metadata, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      newId('evd'),
      evidence.workspaceId,
      evidence.taskId ?? null,
      evidence.runId ?? null,
      evidence.stepId ?? null,
      evidence.kind,
      `sha256:${hash}`,
      JSON.stringify(evidence.metadata),
      now,
    ],
  );
}
