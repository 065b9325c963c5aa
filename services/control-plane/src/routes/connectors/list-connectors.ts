import { listConnectors } from '@countersign/contracts/control-plane';
import { readCatalogue } from '../../connectors/catalogue.ts';
import { connectorView } from '../../connectors/connector-view.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { findInstalls } from '../../store/connector-installs.ts';

export const listConnectorsRoute = ({ config, database }: Context) =>
  handleWorkspace(listConnectors)(async ({ caller: { workspaceId }, query: { limit, cursor = '' } }) => {
    const entries = (await readCatalogue(config.catalogue)).filter(({ connectorId }) => connectorId > cursor);
    const shown = entries.slice(0, limit);
    const names = shown.map(({ connectorId }) => connectorId);
    const installs = await findInstalls(database.reader, workspaceId, names);
    const data = shown.map((entry) => connectorView(entry, installs.get(entry.connectorId) ?? null));
    return { data, next_cursor: entries.length > limit ? (names.at(-1) ?? null) : null };
  });
