import { AppError, type PlainJson } from '@countersign/contracts';
import { getRelationSnapshot } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { snapshotView } from '../../controls/relations/snapshot-view.ts';
import { findSnapshotWithChanges } from '../../store/relation-store.ts';

export const getRelationSnapshotRoute = ({ reader, config: { relationsAgeMaxMs } }: Context) =>
  handleTenant(getRelationSnapshot)(async ({ caller, params }) => {
    const found = await findSnapshotWithChanges(reader, caller.tenant, params.snapshot_id);
    if (found === null) throw new AppError('NOT_FOUND', 'The tenant has no relation snapshot with this ID');
    // The writer stored an object.
    return { ...snapshotView(found.snapshot, relationsAgeMaxMs), changes: found.changes as Record<string, PlainJson> };
  });
