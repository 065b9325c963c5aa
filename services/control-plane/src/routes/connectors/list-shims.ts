import { AppError, InstallId } from '@countersign/contracts';
import { listShims } from '@countersign/contracts/control-plane';
import { sealedCallOf, shimView } from '../../connectors/shim-view.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { knownId } from '../../siblings/known-id.ts';
import { findInstallById } from '../../store/connector-installs.ts';
import * as store from '../../store/connector-shims.ts';

export const listShimsRoute = (context: Context) =>
  handleWorkspace(listShims)(async ({ caller, params, query: { limit, cursor } }) => {
    const { workspaceId } = caller;
    const { reader } = context.database;
    const install = await findInstallById(reader, { workspaceId, id: knownId(InstallId, params.install_id) });
    if (install === null)
      throw new AppError(
        'NOT_FOUND',
        'This object does not exist, or you have no access to it. Check its ID and the workspace',
      );
    const { id: installId, connectorId } = install;
    const shims = await store.listShims(reader, { workspaceId, installId }, { limit: limit + 1, cursor });
    const shown = shims.slice(0, limit);
    const data = [];
    // Sequential, since a page may need a thousand requests.
    for (const shim of shown)
      data.push(shimView(shim, { connectorId, receiptId: await sealedCallOf(context, shim, caller) }));
    return { data, next_cursor: shims.length > limit ? (shown.at(-1)?.id ?? null) : null };
  });
