import type { WorkspaceId } from '@countersign/contracts';
import type { EmittedEventModel } from '../generated/prisma/models.ts';
import type { Tx } from './database.ts';

export type StoredEvent = EmittedEventModel;

type Place = { workspaceId: WorkspaceId };

/** Few enough that a sweep does not hold up other work. */
const forgottenAtOnce = 1_000;

export function findEmittedEvent(
  tx: Tx,
  { workspaceId, dedupeKey }: Place & { dedupeKey: string },
): Promise<StoredEvent | null> {
  return tx.emittedEvent.findUnique({ where: { workspaceId_dedupeKey: { workspaceId, dedupeKey } } });
}

export function countEmittedSince(tx: Tx, { workspaceId, since }: Place & { since: Date }): Promise<number> {
  return tx.emittedEvent.count({ where: { workspaceId, emittedAt: { gt: since } } });
}

export async function insertEmittedEvent(tx: Tx, event: StoredEvent): Promise<void> {
  await tx.emittedEvent.create({ data: event });
}

export async function forgetEmittedEvents(tx: Tx, before: Date): Promise<void> {
  await tx.$executeRaw`
    DELETE FROM emitted_events WHERE (workspace_id, dedupe_key) IN (
      SELECT workspace_id, dedupe_key FROM emitted_events WHERE emitted_at < ${before} ORDER BY emitted_at LIMIT ${forgottenAtOnce})`;
}
