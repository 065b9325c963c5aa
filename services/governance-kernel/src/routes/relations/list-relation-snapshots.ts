import { listRelationSnapshots } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { snapshotView } from '../../controls/relations/snapshot-view.ts';
import { listSnapshots } from '../../store/relation-store.ts';

export const listRelationSnapshotsRoute = ({ reader, config: { relationsAgeMaxMs } }: Context) =>
  handleTenant(listRelationSnapshots)(({ caller, query }) =>
    listSnapshots(reader, caller.tenant, {
      page: query,
      item: (snapshot) => snapshotView(snapshot, relationsAgeMaxMs),
    }),
  );
