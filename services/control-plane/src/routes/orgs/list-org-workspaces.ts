import { listOrgWorkspaces } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleSibling } from '../../handle.ts';
import * as store from '../../store/orgs.ts';

export const listOrgWorkspacesRoute = ({ database }: Pick<Context, 'database'>) =>
  handleSibling(listOrgWorkspaces)(async ({ query }) => {
    const data = await store.listOrgWorkspaces(database.reader, query);
    return { data, next_cursor: data.length < query.limit ? null : (data.at(-1)?.workspace_id ?? null) };
  });
