import { writeRelationships } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { changeRelationships } from '../../controls/relations/change-relations.ts';
import { snapshotView } from '../../controls/relations/snapshot-view.ts';

/** Every kernel uses the new snapshot from its next commit on. */
export const writeRelationshipsRoute = (kernel: Context) =>
  handleSystem(writeRelationships)(async ({ body, caller }) => {
    const { snapshot, ...counts } = await changeRelationships(kernel, caller.principal, body);
    return { ...snapshotView(snapshot, kernel.config.relationsAgeMaxMs), ...counts };
  });
