import { putPermissionModel } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleSystem } from '../handle.ts';
import { changePermissionModel } from '../relations/change-relations.ts';
import { compileModel } from '../relations/permission-models.ts';
import { snapshotView } from '../relations/snapshot-view.ts';

/** A model that does not compile never stands. */
export const putPermissionModelRoute = (kernel: Context) =>
  handleSystem(putPermissionModel)(async ({ params, body }) => {
    compileModel(body);
    return snapshotView(await changePermissionModel(kernel, params.tenant, body), kernel.config.relationsAgeMaxMs);
  });
