import { listScimGroups } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { handleScim } from '../../handle.ts';
import { groupPage } from '../../provisioning/resource-pages.ts';

export const listScimGroupsRoute = ({ config, transaction }: Context) =>
  handleScim(listScimGroups)(({ query, caller }) =>
    groupPage({ transaction, baseUrl: config.scimBaseUrl }, caller.orgId, query),
  );
