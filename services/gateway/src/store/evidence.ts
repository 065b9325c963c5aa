import { createHash } from 'node:crypto';
import { canonicalize, type JsonValue } from '@countersign/crypto';
import { newId } from '../ids.ts';
import type { Tx } from './database.ts';

type Evidence = {
  workspaceId: string;
  taskId?: string | null;
  runId?: string | null;
  stepId?: string | null;
  kind: 'task_created' | 'task_changed' | 'run_enqueued' | 'step_settled' | 'run_ended';
  /** The content of the evidence. Only its hash is stored. */
  content: JsonValue;
  metadata: { [member: string]: JsonValue };
};

/** Stores evidence metadata: a hash of the content and facts about it, never the content. */
export async function recordEvidence(tx: Tx, evidence: Evidence, now: Date): Promise<void> {
  const { workspaceId, taskId = null, runId = null, stepId = null, kind, content, metadata } = evidence;
  const hash = createHash('sha256').update(canonicalize(content)).digest('hex');
  const about = { workspaceId, taskId, runId, stepId, kind, metadata };
  await tx.evidenceItem.create({
    data: { id: newId('evd'), ...about, contentHash: `sha256:${hash}`, createdAt: now },
  });
}
