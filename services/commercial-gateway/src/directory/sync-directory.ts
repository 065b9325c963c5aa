import type { Context } from '../context.ts';
import { putOrg, putOrgWorkspace } from '../store/orgs.ts';

const pageSize = 200;

/**
 * Copies all organisations and their workspaces from the control plane. Throws when the control plane does not answer.
 */
export async function syncDirectory({
  directory,
  transaction,
}: Pick<Context, 'directory' | 'transaction'>): Promise<void> {
  await eachPage(directory.listOrgs, (orgs) =>
    transaction(async (tx) => {
      for (const org of orgs) await putOrg(tx, org);
    }),
  );
  await eachPage(directory.listOrgWorkspaces, (workspaces) =>
    transaction(async (tx) => {
      for (const workspace of workspaces) await putOrgWorkspace(tx, workspace);
    }),
  );
}

type Page<Item> = { body: { data: Item[]; next_cursor: string | null } };
type ListPage<Item> = (input: { query: { limit: number; cursor?: string } }) => Promise<Page<Item>>;

async function eachPage<Item>(list: ListPage<Item>, work: (items: Item[]) => Promise<void>): Promise<void> {
  let cursor: string | null = null;
  do {
    const query: { limit: number; cursor?: string } = { limit: pageSize, ...(cursor === null ? {} : { cursor }) };
    const { body }: Page<Item> = await list({ query });
    await work(body.data);
    cursor = body.next_cursor;
  } while (cursor !== null);
}
