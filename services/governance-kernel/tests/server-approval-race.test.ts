import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { startNoteServer, type NoteServer } from '@countersign/testkit/mcp-server';
import { verifies } from '@countersign/testkit/verifies';
import { addServer, approvalOf, openPolicy } from './_added-servers.ts';
import { refusal } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';

let test: TestKernel;
let notes: NoteServer;
let slow: Server;
/** The slow server returns its list when this promise is resolved. */
let listing: Promise<void> = Promise.resolve();
let [reach, release]: (() => void)[] = [];
beforeAll(async () => {
  notes = await startNoteServer();
  // The same server at another URL, where it lists its tools slowly.
  slow = createServer((req, res) => {
    void (async () => {
      const body = await text(req);
      if (body.includes('"tools/list"')) {
        reach?.();
        await listing;
      }
      const names = Object.entries(req.headers).filter(([name]) => /^(accept|content-type|mcp-.*)$/.test(name));
      const headers = Object.fromEntries(names.map(([name, value]) => [name, String(value)]));
      const sent = req.method === 'POST' ? { method: 'POST', headers, body } : { headers };
      const answer = await fetch(notes.url, sent);
      res.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' });
      res.end(await answer.text());
    })();
  });
  await once(slow.listen(0, '127.0.0.1'), 'listening');
  test = await startTestKernel({ env: { GOV_MCP_PRIVATE: '1', GOV_MCP_LIST_MAX_AGE: '0' } });
  await test.activate('*', openPolicy);
});
afterAll(async () => {
  await test?.close();
  slow?.closeAllConnections();
  slow?.close();
  await notes?.close();
});

verifies(
  'kn.mcp.quarantine',
  'a server whose URL changes while it is listed for approval stays in quarantine',
  async () => {
    const address = slow.address();
    if (address === null || typeof address === 'string') throw new Error('The slow server has no port');
    const owner = test.as('acme', 'owner-1');
    await addServer(owner, { server_id: 'notes', url: `http://127.0.0.1:${address.port}/mcp` });
    const { receipt, hash } = await approvalOf(test.kernel, { serverId: 'notes' });
    const reached = new Promise<void>((resolve) => (reach = resolve));
    listing = new Promise((resolve) => (release = resolve));
    const approving = refusal(
      test.as('acme').approveMcpServer({
        params: { server_id: 'notes' },
        body: { tenant_id: 'acme', approval_receipt_id: receipt, definitions_hash: hash },
      }),
    );
    await reached;
    await addServer(owner, { server_id: 'notes', url: notes.url });
    release?.();
    expect(await approving).toBe('PRECONDITION_FAILED');
    const { body } = await owner.getMcpServer({ params: { server_id: 'notes' }, query: {} });
    expect(body).toMatchObject({ state: 'quarantined', config: { url: new URL(notes.url).origin } });
  },
);
