import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { adminKey } from './_kernel.ts';
import { startUpstreams, toolPolicy, type Upstreams } from './_upstreams.ts';

let site: Upstreams;
beforeAll(async () => {
  site = await startUpstreams();
});
afterAll(() => site.close());

const noOne = {
  total: 0,
  stopped: 0,
  blocked: 0,
  scope: 0,
  policy: 0,
  malformed: 0,
  look_alike: 0,
  drift: 0,
  unpinned: 0,
  server: 0,
};

/** The tools of `notes` that a caller sees, and the count of the others by reason. */
async function listed({ tenant = 'acme', bearer = adminKey }: { tenant?: string; bearer?: string } = {}) {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  const tenantHeader: Record<string, string> = bearer === adminKey ? { 'x-gov-tenant-id': tenant } : {};
  const headers = { authorization: `Bearer ${bearer}`, ...tenantHeader };
  const url = new URL(`${site.test.kernel.url}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  const { tools, _meta } = await client.listTools();
  await client.close();
  const names = tools.map(({ name }) => name.replace(/^notes(\.|__)/, ''));
  return { names, counted: _meta?.['countersign/not_listed'] };
}

describe('tools/list hides and counts tools that the caller can never call', () => {
  it('because a rule denies them whatever the arguments', async () => {
    const { names, counted } = await listed();
    expect(names).toEqual(expect.arrayContaining(['read_note', 'write_note', 'pay']));
    expect(names).not.toContain('delete_note');
    expect(counted).toEqual({ ...noOne, total: 1, policy: 1 });
  });

  it('because the workspace blocks them in any spelling, without effect on other workspaces', async () => {
    const params = { tenant: 'blocking' };
    await site.test.system.putToolBlocks({ params, body: { version: 1, tools: ['Notes__pay'] } });
    const { names, counted } = await listed({ tenant: 'blocking' });
    expect(names).not.toContain('pay');
    expect(counted).toEqual({ ...noOne, total: 2, policy: 1, blocked: 1 });
    expect((await listed()).names).toContain('pay');
  });

  it('because the access key is limited to other tools', async () => {
    const body = { kind: 'agent', principal_id: 'reader', tools: ['notes__read_note'] } as never; // kernel defaults
    const { key } = (await site.test.as('acme', 'operator').createAccessKey({ body })).body;
    const { names, counted } = await listed({ bearer: key });
    expect(names).toEqual(['read_note']);
    expect(counted).toMatchObject({ policy: 0 });
    expect((counted as typeof noOne).scope).toBeGreaterThan(2);
  });

  it('because a fence stops the tool or its server, as long as the fence is in force', async () => {
    await site.test.setFence('tool:stopping/notes__pay', 'quarantine');
    expect(await listed({ tenant: 'stopping' })).toMatchObject({
      counted: { ...noOne, total: 2, stopped: 1, policy: 1 },
    });
    await site.test.setFence('tool:stopping/notes.pay', 'open');
    expect((await listed({ tenant: 'stopping' })).names).toContain('pay');
    await site.test.setFence('server:stopping/notes', 'throttle', 0);
    expect((await listed({ tenant: 'stopping' })).names).toContain('pay');
    await site.test.setFence('server:stopping/notes', 'freeze');
    expect((await listed({ tenant: 'stopping' })).names).toEqual([]);
    await site.test.setFence('server:stopping/notes', 'open');
  });

  it('under the policy activated last, even before any call has used it', async () => {
    await site.test.activate('strict', toolPolicy.replaceAll('notes.delete_note', 'notes.read_note'));
    const { names, counted } = await listed({ tenant: 'strict' });
    expect(names).toContain('delete_note');
    expect(names).not.toContain('read_note');
    await site.test.restart();
    expect(await listed({ tenant: 'strict' })).toEqual({ names, counted });
  });
});
