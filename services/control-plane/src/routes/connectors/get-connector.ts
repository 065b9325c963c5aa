import { AppError } from '@countersign/contracts';
import { getConnector } from '@countersign/contracts/control-plane';
import { readCatalogue } from '../../connectors/catalogue.ts';
import { connectorView } from '../../connectors/connector-view.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { findInstalls } from '../../store/connector-installs.ts';

export const getConnectorRoute = ({ config, database }: Context) =>
  handleWorkspace(getConnector)(async ({ caller: { workspaceId }, params: { connector_id: connectorId } }) => {
    const entry = (await readCatalogue(config.catalogue)).find((each) => each.connectorId === connectorId);
    if (entry === undefined)
      throw new AppError(
        'NOT_FOUND',
        'This object does not exist, or you have no access to it. Check its ID and the workspace',
      );
    const installs = await findInstalls(database.reader, workspaceId, [connectorId]);
    return { ...connectorView(entry, installs.get(connectorId) ?? null), server_json: entry.serverJson };
  });
