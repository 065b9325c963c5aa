import { listScimUsers } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { handleScim } from '../../handle.ts';
import { userPage } from '../../provisioning/resource-pages.ts';

export const listScimUsersRoute = ({ config, transaction }: Context) =>
  handleScim(listScimUsers)(({ query, caller }) =>
    userPage({ transaction, baseUrl: config.scimBaseUrl }, caller.orgId, query),
  );
