import { putPermissionModel } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { changePermissionModel } from '../../controls/relations/change-relations.ts';
import { requireCompiles } from '../../controls/relations/permission-models.ts';
import { snapshotView } from '../../controls/relations/snapshot-view.ts';

/** A model that does not compile is never stored. */
export const putPermissionModelRoute = (kernel: Context) =>
  handleSystem(putPermissionModel)(async ({ params: { tenant }, body: model, caller }) => {
    await requireCompiles(model);
    const snapshot = await changePermissionModel(kernel, caller.principal, { tenant, model });
    return snapshotView(snapshot, kernel.config.relationsAgeMaxMs);
  });
