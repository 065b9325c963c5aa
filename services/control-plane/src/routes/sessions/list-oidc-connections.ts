import { listOidcConnections } from '@countersign/contracts/control-plane';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';

export const listOidcConnectionsRoute = ({ connections }: Context) =>
  handlePublic(listOidcConnections)(() => ({
    data: connections.list().map(({ connectionId, name }) => ({ connection_id: connectionId, name })),
  }));
