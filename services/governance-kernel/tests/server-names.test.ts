import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '@countersign/service-kit';
import { startNoteServer, type NoteServer } from '@countersign/testkit/mcp-server';
import { verifies } from '@countersign/testkit/verifies';
import { addServer, approveServerAt, codeOf, listed, mcpClient, openPolicy } from './_added-servers.ts';
import { clientOf, startTestKernel, type TestKernel } from './_kernel.ts';

let test: TestKernel;
let own: NoteServer;
let installed: NoteServer;
let messages: string[];

/** The tenant `acme` adds and approves `shelf`. Then the operator declares another server with this name. */
beforeEach(async () => {
  [own, installed, messages] = [await startNoteServer(), await startNoteServer(), []];
  const stream = new Writable({ write: (chunk, _encoding, done) => void (messages.push(String(chunk)), done()) });
  const log = createLogger({ service: 'test', stream });
  test = await startTestKernel({ env: { GOV_MCP_PRIVATE: '1', GOV_MCP_LIST_MAX_AGE: '0' }, overrides: { log } });
  await test.activate('*', openPolicy);
  await addServer(test.as('acme', 'owner-1'), { server_id: 'shelf', url: own.url });
  await approveServerAt(test.kernel, { serverId: 'shelf' });
  test.env['GOV_MCP_SERVERS'] = JSON.stringify({
    servers: [{ server_id: 'shelf', transport: 'http', url: installed.url, trust_annotations: true }],
  });
});
afterEach(async () => {
  await test?.close();
  await Promise.all([own?.close(), installed?.close()]);
});

async function shimClient() {
  const body = { kind: 'agent', principal_id: 'shim:one', doors: ['mcp'], tools: ['shelf.read_note'] } as never; // defaulted by the schema
  const { key } = (await test.as('acme', 'owner-1').createAccessKey({ query: {}, body })).body;
  return async (name: string) => {
    const client = await mcpClient(test.kernel, 'acme', { authorization: `Bearer ${key}` });
    const code = await codeOf(client, name, { id: 'a' });
    await client.close();
    return code;
  };
}

const serverOf = async (tenant: string) =>
  (await test.as(tenant).getMcpServer({ params: { server_id: 'shelf' }, query: {} })).body;

describe('a server of the installation with the name of a server of a tenant', () => {
  verifies(
    'kn.mcp.server',
    'is not reached by callers of this tenant, whose keys reach the approved server',
    async () => {
      const call = await shimClient();
      expect(await call('shelf.read_note')).toBe('ALLOWED');
      await test.restart();
      for (const name of ['shelf.read_note', 'shelf__read_note', 'mcp__shelf__read_note'])
        expect(await call(name)).toBe('ALLOWED');
      expect([own.calls.length, installed.calls.length]).toEqual([4, 0]);
      const neighbour = await mcpClient(test.kernel, 'other');
      expect(await codeOf(neighbour, 'shelf.read_note', { id: 'a' })).toBe('ALLOWED');
      await neighbour.close();
      expect([own.calls.length, installed.calls.length]).toEqual([4, 1]);
    },
  );

  it('is hidden in every list of this tenant, and a warning names it to the operator', async () => {
    await test.restart();
    expect(await serverOf('acme')).toMatchObject({ owner: 'tenant', state: 'approved' });
    expect(await serverOf('other')).toMatchObject({ owner: 'installation', state: 'approved' });
    const { data } = (await test.as('acme').listMcpServers({ query: {} })).body;
    expect(data.map(({ server_id: id, owner }) => [id, owner])).toEqual([['shelf', 'tenant']]);
    own.redefine('read_note', { description: 'Reads one note of the tenant.' });
    const client = await mcpClient(test.kernel);
    expect(await listed(client)).toMatchObject({ hidden: { drift: 1 } });
    await client.close();
    const { data: tools } = (await test.as('acme').listRegisteredTools({ query: {} })).body;
    expect(tools.filter(({ tool }) => tool === 'shelf.read_note').map(({ pin }) => pin)).toEqual(['drifted']);
    expect((await test.as('acme').listBoundaryTargets()).body.servers).toHaveLength(1);
    expect(messages.filter((line) => line.includes('mcp_server.name_in_use'))).toHaveLength(1);
  });

  it('is not reached after the server of the tenant is revoked', async () => {
    const call = await shimClient();
    await test.restart();
    await clientOf(test.kernel, 'acme').revokeMcpServer({
      params: { server_id: 'shelf' },
      body: { tenant_id: 'acme', reason: 'it was sold' },
    }); // plain strings instead of branded ones
    expect(await call('shelf.read_note')).toBe('SERVER_REVOKED');
    const disabled = await test
      .as('acme', 'owner-1')
      .disableMcpServer({ params: { server_id: 'shelf' }, query: {}, body: { reason: 'again' } });
    expect(disabled.body).toMatchObject({ owner: 'tenant', state: 'revoked' });
    expect(await serverOf('other')).toMatchObject({ state: 'approved' });
    expect(installed.calls).toEqual([]);
  });

  it('does not prevent the tenant from changing its server, but other tenants cannot take the name', async () => {
    await test.restart();
    const change = { server_id: 'shelf', url: own.url, headers: { 'x-key': 'next' } };
    expect(await addServer(test.as('acme', 'owner-1'), change)).toMatchObject({
      owner: 'tenant',
      state: 'quarantined',
    });
    await expect(addServer(test.as('other', 'owner-1'), change)).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
  });
});
