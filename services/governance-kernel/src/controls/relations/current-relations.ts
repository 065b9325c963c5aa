import type { TenantId } from '@countersign/contracts';
import type { NeededRelations } from '@countersign/policy';
import type { CachedState } from '../../ledger/cached-state.ts';
import { wanted, type Wanted } from '../../ledger/control.ts';
import { relationHeads } from './relation-heads.ts';
import type { HeldRelations, RelationSource } from './relation-source.ts';

type Query = { tenant: TenantId; needed: NeededRelations };
type Related = { call: { caller: { tenant: TenantId } }; relations: HeldRelations };

/** The snapshot whose relations the rules read. A call without such rules has none, which is always current. */
export function currentRelations(source: RelationSource): CachedState<Query, Promise<HeldRelations>, Related> {
  return {
    name: 'The relations',
    current: ({ tenant, needed }) => source.snapshot(tenant, needed),
    isCurrent: (batch, { call, relations }) =>
      relations.kind !== 'read' || (batch.row(relationHeads, call.caller.tenant)?.hash ?? null) === relations.hash,
    reload: ({ call }) => source.reload(call.caller.tenant),
  };
}

export function wantedRelations(snapshot: HeldRelations, tenant: string): Wanted[] {
  return snapshot.kind === 'not_asked' ? [] : [wanted(relationHeads, tenant)];
}
