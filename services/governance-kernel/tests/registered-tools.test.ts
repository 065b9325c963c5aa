import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { TenantId } from '@countersign/contracts';
import { toldDefinitionBytesMax, type RegisteredTool } from '@countersign/contracts/governance-kernel';
import { startScriptedMcp, type ScriptedMcp } from './_scripted-mcp.ts';
import { startUpstreams, type Upstreams } from './_upstreams.ts';

const act = { name: 'act', description: 'Acts.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };
const odd = { ...act, name: 'ödd ‮tool' };
const long = { ...act, name: 'long', description: 'x'.repeat(toldDefinitionBytesMax) };
const unspeakable = { ...act, name: `z${'x'.repeat(1_024)}` };
const listing = (...tools: object[]) => ({
  result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools },
});

let scripted: ScriptedMcp;
let upstreams: Upstreams;
beforeEach(async () => {
  scripted = await startScriptedMcp();
  scripted.answer('tools/list', listing(act, odd, long, unspeakable));
  upstreams = await startUpstreams({}, [
    { server_id: 'odd_one', transport: 'http', trust_annotations: true, url: scripted.url },
  ]);
});
afterEach(async () => {
  await upstreams.close();
  await scripted.close();
});

const list = async (tenant: string, query = {}) =>
  (await upstreams.test.as(tenant).listRegisteredTools({ query })).body;
const look = () => upstreams.test.kernel.context.mcp.askConnected();
async function toolNamed(name: string, tenant = 'acme'): Promise<RegisteredTool | undefined> {
  return (await list(tenant, { limit: 200 })).data.find(({ tool }) => tool === name);
}

describe('the list of registered tools', () => {
  it('is paged and lists each tool once, except tools whose names are too long', async () => {
    const all = (await list('acme', { limit: 200 })).data.map(({ tool }) => tool);
    expect(all).toEqual(expect.arrayContaining(['notes.read_note', 'odd_one.act', `odd_one.${odd.name}`]));
    expect(all.some((tool) => tool.startsWith('odd_one.zx'))).toBe(false);
    const paged: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: Awaited<ReturnType<typeof list>> = await list(
        'acme',
        cursor === '' ? { limit: 1 } : { limit: 1, cursor },
      );
      paged.push(...page.data.map(({ tool }) => tool));
      cursor = page.next_cursor;
    }
    expect(paged).toEqual(all);
  });

  it.each(['none', Buffer.from('a.b\0c').toString('base64url'), Buffer.from("'; --").toString('base64url')])(
    'rejects a cursor that it did not issue: %s',
    async (cursor) => {
      await expect(list('acme', { cursor })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    },
  );

  it('shows the current definition beside the pin while they differ', async () => {
    const before = await toolNamed('odd_one.act');
    expect(before).toMatchObject({ pin: 'in_sync', observed_definition: null, annotated_effect: 'E1' });
    scripted.answer('tools/list', listing({ ...act, description: 'Acts, and mails it.' }, odd, long));
    await look();
    expect(await toolNamed('odd_one.act')).toMatchObject({
      ...{ pin: 'drifted', server_state: 'approved', pinned_hash: before?.pinned_hash },
      definition: { description: 'Acts.' },
      observed_definition: { description: 'Acts, and mails it.' },
    });
    expect((await toolNamed('odd_one.act'))?.observed_hash).not.toBe(before?.pinned_hash);
    scripted.answer('tools/list', listing(act, odd, long, { ...act, name: 'later' }));
    await look();
    expect(await toolNamed('odd_one.act')).toEqual(before);
    expect(await toolNamed('odd_one.later')).toMatchObject({ pin: 'unpinned', pinned_hash: null });
  });

  it('contains only the hash of a definition that is too long', async () => {
    const { definition, pinned_hash: hash } = (await toolNamed('odd_one.long')) ?? {};
    expect([definition, hash]).toEqual([null, expect.stringMatching(/^sha256:/)]);
  });

  it('shows which tools this tenant blocks, in any spelling, but not the blocks of other tenants', async () => {
    const tenant = 'acme' as TenantId;
    await upstreams.test.system.putToolBlocks({
      params: { tenant },
      body: { version: 1, tools: ['Odd_One__act'] },
    });
    expect((await toolNamed('odd_one.act'))?.blocked).toBe(true);
    expect((await toolNamed('odd_one.long'))?.blocked).toBe(false);
    expect((await toolNamed('odd_one.act', 'globex'))?.blocked).toBe(false);
  });
});
