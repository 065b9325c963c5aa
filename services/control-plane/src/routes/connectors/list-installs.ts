import { listInstalls } from '@countersign/contracts/control-plane';
import { installView } from '../../connectors/install-view.ts';
import { knownServer } from '../../connectors/known-server.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import * as store from '../../store/connector-installs.ts';

export const listInstallsRoute = (context: Context) =>
  handleWorkspace(listInstalls)(async ({ caller, query: { limit, cursor } }) => {
    const { workspaceId } = caller;
    const input = { limit: limit + 1, cursor };
    const installs = await store.listInstalls(context.database.reader, workspaceId, input);
    const shown = installs.slice(0, limit);
    const data = await Promise.all(
      shown.map(async (install) => installView(install, await knownServer(context, install, caller))),
    );
    return { data, next_cursor: installs.length > limit ? (shown.at(-1)?.connectorId ?? null) : null };
  });
