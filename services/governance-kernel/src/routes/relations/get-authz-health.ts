import { instantOf } from '@countersign/contracts';
import { getAuthzHealth } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { isFresh } from '../../controls/relations/freshness.ts';
import { snapshotView } from '../../controls/relations/snapshot-view.ts';
import { findRelationHead, findSnapshot } from '../../store/relation-store.ts';

export const getAuthzHealthRoute = ({ reader, clock, config: { relationsAgeMaxMs } }: Context) =>
  handleTenant(getAuthzHealth)(async ({ caller: { tenant } }) => {
    const head = await findRelationHead(reader, tenant);
    const snapshot = head === null ? null : await findSnapshot(reader, tenant, head.version);
    const nowMs = clock().getTime();
    const health = {
      age_max_seconds: relationsAgeMaxMs / 1_000,
      checked_at: instantOf(nowMs),
    };
    if (head === null || snapshot === null) return { status: 'missing' as const, snapshot: null, ...health };
    const status = isFresh(head, { nowMs, ageMaxMs: relationsAgeMaxMs }) ? ('ready' as const) : ('stale' as const);
    return { status, snapshot: snapshotView(snapshot, relationsAgeMaxMs), ...health };
  });
