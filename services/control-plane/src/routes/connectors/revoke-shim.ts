import { AppError, InstallId, ShimId } from '@countersign/contracts';
import { revokeShim } from '@countersign/contracts/control-plane';
import { endShim } from '../../connectors/end-shims.ts';
import { sealedCallOf, shimView } from '../../connectors/shim-view.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { knownId } from '../../siblings/known-id.ts';
import { findInstallById } from '../../store/connector-installs.ts';
import { findShim } from '../../store/connector-shims.ts';

export const revokeShimRoute = (context: Context) =>
  handleWorkspace(revokeShim)(async ({ caller, params, requestId }) => {
    const { workspaceId } = caller;
    const { reader } = context.database;
    const [installId, id] = [knownId(InstallId, params.install_id), knownId(ShimId, params.shim_id)];
    const install = await findInstallById(reader, { workspaceId, id: installId });
    const shim = await findShim(reader, { workspaceId, installId, id });
    if (install === null || shim === null)
      throw new AppError(
        'NOT_FOUND',
        'This object does not exist, or you have no access to it. Check its ID and the workspace',
      );
    await endShim(context, { shim, requestId }, caller);
    const ended = (await findShim(reader, { workspaceId, installId, id })) ?? shim;
    const receiptId = await sealedCallOf(context, ended, caller);
    return shimView(ended, { connectorId: install.connectorId, receiptId });
  });
