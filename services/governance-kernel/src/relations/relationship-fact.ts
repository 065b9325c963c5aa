import type { Fact, RelationshipFact } from '@countersign/policy';
import type { LedgerBatch } from '../ledger/batch.ts';
import { relationHeads } from './relation-heads.ts';
import type { HeldRelations } from './relation-source.ts';

type Known = { held: HeldRelations; tenant: string; nowMs: number; ageMaxMs: number };

/**
 * The answers from before the batch, with the age of their snapshot by the row of the batch. A tenant without a
 * snapshot has no relations to judge by.
 */
export function relationshipFact(batch: LedgerBatch, { held, tenant, nowMs, ageMaxMs }: Known): Fact<RelationshipFact> {
  if (held.kind === 'not_asked') return { state: 'not_applicable' };
  if (held.kind === 'unavailable') return { state: 'unavailable', detail: 'The relations could not be read' };
  const head = batch.row(relationHeads, tenant);
  if (head === null) return { state: 'unavailable', detail: 'No relations were ever written' };
  const { relations, required } = held;
  const age = { age_ms: nowMs - head.confirmedAtMs, age_max_ms: ageMaxMs };
  return { state: 'known', value: { snapshot_hash: head.hash, ...age, relations, required } };
}
