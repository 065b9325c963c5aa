import { getMcpServer } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import { getServer } from '../server-registry/registry-desk.ts';

export const getMcpServerRoute = ({ registryDesk }: Context) =>
  handleTenant(getMcpServer)(({ params, caller }) => getServer(registryDesk, caller.tenant, params.server_id));
