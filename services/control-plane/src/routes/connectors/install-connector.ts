import { installConnector } from '@countersign/contracts/control-plane';
import { installConnector as install } from '../../connectors/install.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const installConnectorRoute = (context: Context) =>
  handleWorkspace(installConnector)(({ caller, params: { connector_id: connectorId }, body, requestId }) =>
    install(context, { connectorId, ...body, requestId }, caller),
  );
