import { listOrgs } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleSibling } from '../../handle.ts';
import * as store from '../../store/orgs.ts';

export const listOrgsRoute = ({ database }: Pick<Context, 'database'>) =>
  handleSibling(listOrgs)(async ({ query }) => {
    const data = await store.listOrgs(database.reader, query);
    return { data, next_cursor: data.length < query.limit ? null : (data.at(-1)?.org_id ?? null) };
  });
