import { putPermissionModel } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleSystem } from '../handle.ts';
import { changePermissionModel } from '../relations/change-relations.ts';
import { requireCompiles } from '../relations/permission-models.ts';
import { snapshotView } from '../relations/snapshot-view.ts';

/** A model that does not compile never stands. */
export const putPermissionModelRoute = (kernel: Context) =>
  handleSystem(putPermissionModel)(async ({ params: { tenant }, body: model, caller }) => {
    await requireCompiles(model);
    const snapshot = await changePermissionModel(kernel, caller.principal, { tenant, model });
    return snapshotView(snapshot, kernel.config.relationsAgeMaxMs);
  });
