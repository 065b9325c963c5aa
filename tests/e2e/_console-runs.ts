import { untilAnswered } from '@countersign/testkit/until';
import type { Person } from './_signed-in.ts';

export type Members = Record<string, unknown>;

export const placeOf = ({ workspaceId }: Pick<Person, 'workspaceId'>) => `/api/v1/workspaces/${workspaceId}`;
export const start = (who: Person, body: Members, headers: Record<string, string> = {}) =>
  who.tab.send(`${placeOf(who)}/runs`, { method: 'POST', body, headers });
export const dataOf = ({ body }: { body: Members }) => body['data'] as Members[];

export async function endOf(who: Person, runId: unknown): Promise<Members> {
  return await untilAnswered(async () => {
    const { body } = await who.tab.send(`${placeOf(who)}/runs/${String(runId)}`);
    return body['ended_at'] !== null && body;
  });
}

export async function receiptsOf(who: Person, runId: unknown): Promise<Members[]> {
  const all: Members[] = [];
  for (let cursor = ''; ;) {
    const page = await who.tab.send(`${placeOf(who)}/runs/${String(runId)}/receipts?limit=2${cursor}`);
    all.push(...dataOf(page));
    if (page.body['next_cursor'] === null) return all;
    cursor = `&cursor=${String(page.body['next_cursor'])}`;
  }
}
