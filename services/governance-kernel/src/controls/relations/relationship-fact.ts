import type { Fact, RelationshipFact } from '@countersign/policy';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { relationHeads } from './relation-heads.ts';
import type { HeldRelations } from './relation-source.ts';

type Basis = { relations: HeldRelations; tenant: string; nowMs: number; ageMaxMs: number };

/**
 * The answers that were read before the batch, with the age of their snapshot in the batch. `unavailable` for a tenant
 * without a snapshot.
 */
export function relationshipFact(
  batch: LedgerBatch,
  { relations: snapshot, tenant, nowMs, ageMaxMs }: Basis,
): Fact<RelationshipFact> {
  if (snapshot.kind === 'not_asked') return { state: 'not_applicable' };
  if (snapshot.kind === 'unavailable') return { state: 'unavailable', detail: 'The relations could not be read' };
  const head = batch.row(relationHeads, tenant);
  if (head === null) return { state: 'unavailable', detail: 'No relations were ever written' };
  const { relations, required } = snapshot;
  const age = { age_ms: nowMs - head.confirmedAtMs, age_max_ms: ageMaxMs };
  return { state: 'known', value: { snapshot_hash: head.hash, ...age, relations, required } };
}
