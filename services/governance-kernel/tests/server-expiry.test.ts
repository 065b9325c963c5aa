import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Instant } from '@countersign/contracts';
import { startNoteServer, type NoteServer } from '@countersign/testkit/mcp-server';
import { reaching } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { addServer, approveServerAt, codeOf, listed, mcpClient, openPolicy } from './_added-servers.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';

/** A kernel that caches the tools of a server between calls. */
let test: TestKernel;
let notes: NoteServer;
let aheadMs = 0;
const nowMs = () => Date.now() + aheadMs;
beforeAll(async () => {
  notes = await startNoteServer();
  test = await startTestKernel({ env: { GOV_MCP_PRIVATE: '1' }, overrides: { clock: () => new Date(nowMs()) } });
  await test.activate('*', openPolicy);
});
afterAll(async () => {
  await test?.close();
  await notes?.close();
});

verifies(
  'kn.mcp.server',
  'the connection to a server ends when its approval expires, and its calls are refused as expired',
  async () => {
    await addServer(test.as('acme', 'operator-1'), { server_id: 'notes', url: notes.url });
    const expiresAt = new Date(nowMs() + 60_000).toISOString() as Instant;
    await approveServerAt(test.kernel, { serverId: 'notes', expiresAt });
    const client = await mcpClient(test.kernel);
    const get = async () => (await test.as('acme').getMcpServer({ params: { server_id: 'notes' }, query: {} })).body;
    const read = () => codeOf(client, 'notes.read_note', { id: 'a' });
    expect(await read()).toBe('ALLOWED');
    expect((await get()).health).toMatchObject({ state: 'connected' });
    // Listing the tools reads the servers and restarts the expiry timer. The remaining 200 ms pass in real time.
    aheadMs = 59_800;
    await listed(client);
    const ended = await reaching(get, ({ health }) => health === null);
    expect(ended).toMatchObject({ state: 'expired', not_connected: expect.stringContaining('has ended') });
    const sent = notes.requests.length;
    expect(await read()).toBe('SERVER_EXPIRED');
    expect(notes.requests).toHaveLength(sent);
    await client.close();
  },
);
