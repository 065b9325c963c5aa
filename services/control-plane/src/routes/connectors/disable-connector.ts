import { AppError } from '@countersign/contracts';
import { ConnectorId, disableConnector } from '@countersign/contracts/control-plane';
import { disableConnector as disable } from '../../connectors/disable.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const disableConnectorRoute = (context: Context) =>
  handleWorkspace(disableConnector)(({ caller, params, body: { reason }, requestId }) => {
    const connectorId = ConnectorId.safeParse(params.connector_id).data;
    if (connectorId === undefined)
      throw new AppError(
        'NOT_FOUND',
        'This object does not exist, or you have no access to it. Check its ID and the workspace',
      );
    return disable(context, { connectorId, reason, requestId }, caller);
  });
