import { getOrgUse } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleSibling } from '../../handle.ts';
import { countInstalls } from '../../store/connector-installs.ts';
import { countLanes } from '../../store/shadow-lanes.ts';

export const getOrgUseRoute = ({ database: { reader } }: Pick<Context, 'database'>) =>
  handleSibling(getOrgUse)(async ({ params: { org_id: orgId } }) => ({
    connectors: await countInstalls(reader, orgId),
    shadow_lanes: await countLanes(reader, orgId),
  }));
