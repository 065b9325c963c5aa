import { AppError } from '@countersign/contracts';
import type { NeededRelations } from '@countersign/policy';
import type { LedgerBatch } from '../ledger/batch.ts';
import { wanted, type Wanted } from '../ledger/control.ts';
import { relationHeads } from './relation-heads.ts';
import { notAsked, type HeldRelations, type RelationSource } from './relation-source.ts';

/** The snapshot that stands is not the one that was asked: ask again. */
export type RelationsChanged = { kind: 'relations_changed' };

/** Relations that change more often than this within one decision are an attack or a fault. */
const attemptsMax = 5;

type Asked = { source: RelationSource; tenant: string; needed: NeededRelations | null };

/** Tries until what was held is of the snapshot that stands at the commit. Throws RECEIPT_STORE_UNAVAILABLE when that keeps changing. */
export async function underStandingRelations<Done extends { kind: string }>(
  { source, tenant, needed }: Asked,
  attempt: (held: HeldRelations) => Promise<Done | RelationsChanged>,
): Promise<Exclude<Done, RelationsChanged>> {
  for (let attempts = 0; attempts < attemptsMax; attempts += 1) {
    const done = await attempt(needed === null ? notAsked : await source.held(tenant, needed));
    if (done.kind !== 'relations_changed') return done as Exclude<Done, RelationsChanged>; // the one kind that is left out
    await source.reload(tenant);
  }
  throw new AppError('RECEIPT_STORE_UNAVAILABLE', 'The relations keep changing; nothing was executed');
}

export function wantedRelations(held: HeldRelations, tenant: string): Wanted[] {
  return held.kind === 'not_asked' ? [] : [wanted(relationHeads, tenant)];
}

/** Is the snapshot that was asked the one that stands? */
export function stands(batch: LedgerBatch, held: HeldRelations, tenant: string): boolean {
  return held.kind !== 'read' || (batch.row(relationHeads, tenant)?.hash ?? null) === held.hash;
}
