import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createKernelClient } from '@countersign/contracts/routes';
import { startNoteServer, type NoteServer } from '@countersign/testkit/mcp-server';
import type { ServiceProcess } from '@countersign/testkit/service-process';
import { patienceMs, untilReachable } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { addServer, approvalOf, approveServerAt, codeOf, mcpClient, openPolicy } from './_added-servers.ts';
import { ledgerOf } from './_caller.ts';
import { holdStatement, type HeldStatement } from './_held-statement.ts';
import { adminKey, startTestKernel, type KernelClient, type TestKernel } from './_kernel.ts';
import { spawnKernel, startKernelProcess } from './_kernel-process.ts';

const params = { server_id: 'notes' };
let test: TestKernel;
let notes: NoteServer;
let moved: NoteServer;
/** A second kernel on the same database, which the tests kill. */
let killed: ServiceProcess | null = null;
const statements: HeldStatement[] = [];

beforeEach(async () => {
  [notes, moved] = [await startNoteServer(), await startNoteServer()];
  test = await startTestKernel({ env: { GOV_MCP_PRIVATE: '1', GOV_MCP_LIST_MAX_AGE: '0', GOV_MCP_TIMEOUT: '5s' } });
  await test.activate('*', openPolicy);
});
afterEach(async () => {
  await endKilled();
  await test?.close();
  await Promise.all([notes?.close(), moved?.close()]);
});

const operator = () => test.as('acme', 'operator-1');
const get = async () => (await operator().getMcpServer({ params, query: {} })).body;
const add = (client: KernelClient, url: string) => addServer(client, { ...params, url });

/** Kills a kernel that makes this request, while it is about to execute this statement. */
async function killAt(at: Parameters<typeof holdStatement>[1], request: (client: KernelClient) => Promise<unknown>) {
  const client = await clientOfKilled();
  const statement = await hold(at);
  const lost = request(client).then(
    () => 'answered',
    () => 'lost',
  );
  await statement.reached();
  await endKilled();
  expect(await lost).toBe('lost');
}

/** Starts the second kernel. */
async function clientOfKilled(): Promise<KernelClient> {
  const started = await startKernelProcess(test.env);
  killed = started;
  const client = createKernelClient({ baseUrl: started.url, apiKey: adminKey, timeoutMs: patienceMs });
  return client.as({ tenant: 'acme', principal: 'operator-1' });
}

async function endKilled(): Promise<void> {
  await killed?.kill();
  killed = null;
  for (const each of statements.splice(0)) await each.end();
}

async function hold(at: Parameters<typeof holdStatement>[1]): Promise<HeldStatement> {
  const statement = await holdStatement(test, at);
  statements.push(statement);
  return statement;
}

/** The sealed changes of the servers of a tenant, in the order of their chain. */
async function changes(tenant = 'acme'): Promise<string[]> {
  const sealed = await ledgerOf(test, 'mcp-registry');
  return sealed.flatMap(({ payload: { tenant_id: of, action } }) => (of === tenant ? [action] : []));
}

/** The reason code of one call. `refused` when the key has ended. */
async function call(key: string = adminKey): Promise<unknown> {
  const client = await mcpClient(test.kernel, 'acme', { authorization: `Bearer ${key}` }).catch(() => null);
  if (client === null) return 'refused';
  const code = await codeOf(client, 'notes.read_note', { id: 'a' });
  await client.close();
  return code === 'AGENT_REVOKED' ? 'refused' : code;
}

async function shimKey(principal = 'shim'): Promise<string> {
  const body = { kind: 'agent', principal_id: principal, doors: ['mcp'], tools: ['notes.read_note'] } as never; // defaulted by the schema
  return (await operator().createAccessKey({ query: {}, body })).body.key;
}

describe('kill -9 while a server is added', () => {
  verifies('kn.mcp.quarantine', 'leaves nothing before it is stored, and the next request adds it', async () => {
    await killAt('INSERT ON mcp_servers', (client) => add(client, notes.url));
    await expect(get()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await changes()).toEqual([]);
    expect(await add(operator(), notes.url)).toMatchObject({ state: 'quarantined' });
  });

  it('leaves it in quarantine before its tools are recorded, and the next request records them once', async () => {
    await killAt('INSERT ON mcp_tools', (client) => add(client, notes.url));
    expect(await get()).toMatchObject({ state: 'quarantined', tools: [] });
    expect(await call()).toBe('SERVER_QUARANTINED');
    expect((await add(operator(), notes.url)).tools).toHaveLength(6);
    expect(await changes()).toEqual(['mcp.server.register']);
    expect(await approveServerAt(test.kernel, { serverId: 'notes' })).toMatchObject({ state: 'approved' });
  });
});

describe('kill -9 while a server gets another address', () => {
  beforeEach(async () => {
    await add(operator(), notes.url);
    await approveServerAt(test.kernel, { serverId: 'notes' });
  });

  it('leaves the earlier server before the keys for its tools end, and the next request ends them', async () => {
    const key = await shimKey();
    await killAt('UPDATE ON access_keys', (client) => add(client, moved.url));
    expect([await call(key), moved.calls.length]).toEqual(['ALLOWED', 0]);
    await add(operator(), moved.url);
    await approveServerAt(test.kernel, { serverId: 'notes' });
    expect([await call(key), await call(), moved.calls.length]).toEqual(['refused', 'ALLOWED', 1]);
  });

  for (const next of ['approval', 'request'] as const)
    verifies(
      'kn.mcp.server',
      `leaves no key from during the change that reaches it after the next ${next}`,
      async () => {
        const client = await clientOfKilled();
        const sealing = await hold('INSERT ON ledger');
        const ending = await hold('UPDATE ON access_keys');
        const creating = shimKey();
        await sealing.reached();
        const lost = add(client, moved.url).catch(() => 'lost');
        await waitsForControls();
        await sealing.release();
        const key = await creating;
        await ending.reached();
        await endKilled();
        expect(await lost).toBe('lost');
        expect(await call(key)).toBe('SERVER_QUARANTINED');
        if (next === 'request') await add(operator(), moved.url);
        await approveServerAt(test.kernel, { serverId: 'notes' });
        expect([await call(key), await call(), moved.calls.length]).toEqual(['refused', 'ALLOWED', 1]);
      },
    );
});

describe('kill -9 while a server is approved', () => {
  for (const at of ['INSERT ON mcp_servers', 'INSERT ON mcp_tools', 'INSERT ON ledger'] as const)
    verifies('kn.mcp.quarantine', `at ${at} approves nothing, and the same approval is used later`, async () => {
      await add(operator(), notes.url);
      const { receipt, hash } = await approvalOf(test.kernel, { serverId: 'notes' });
      const approve = (client: KernelClient) =>
        client.approveMcpServer({
          params,
          body: { tenant_id: 'acme', approval_receipt_id: receipt, definitions_hash: hash },
        });
      await killAt(at, approve);
      expect(await get()).toMatchObject({ state: 'quarantined', approval_receipt_id: null });
      expect((await get()).tools.map(({ pin }) => pin)).toEqual(Array(6).fill('unpinned'));
      expect(await call()).toBe('SERVER_QUARANTINED');
      await approve(test.as('acme', 'operator-1'));
      expect(await call()).toBe('ALLOWED');
    });
});

describe('kill -9 while a server is revoked', () => {
  beforeEach(async () => {
    await add(operator(), notes.url);
  });

  it('leaves it approved before the revocation is stored, and the next request revokes it', async () => {
    await approveServerAt(test.kernel, { serverId: 'notes' });
    const revoke = (client: KernelClient) =>
      client.revokeMcpServer({ params, body: { tenant_id: 'acme', reason: 'it was sold' } }); // plain strings instead of branded ones
    await killAt('INSERT ON mcp_servers', revoke);
    expect(await call()).toBe('ALLOWED');
    await revoke(operator());
    expect(await call()).toBe('SERVER_REVOKED');
    expect((await changes()).filter((action) => action === 'mcp.server.revoke')).toHaveLength(1);
  });

  verifies('kn.mcp.quarantine', 'leaves no open request that approves it, and the next request ends them', async () => {
    const { receipt, hash } = await approvalOf(test.kernel, { serverId: 'notes' });
    const disable = (client: KernelClient) =>
      client.disableMcpServer({ params, query: {}, body: { reason: 'not needed' } });
    await killAt('UPDATE ON approvals', disable);
    expect(await get()).toMatchObject({ state: 'revoked' });
    const states = async () => (await operator().listApprovals({ query: {} })).body.data.map(({ state }) => state);
    expect(await states()).toEqual(['approved']);
    const body = { tenant_id: 'acme', approval_receipt_id: receipt, definitions_hash: hash } as never; // unbranded
    await expect(operator().approveMcpServer({ params, body })).rejects.toMatchObject({ code: 'APPROVAL_NEEDED' });
    await disable(operator());
    expect(await states()).toEqual(['revoked']);
  });
});

describe('kill -9 while a server is declared', () => {
  for (const [at, sealed] of [
    ['INSERT ON mcp_servers', []],
    ['INSERT ON mcp_tools', ['mcp.server.declare']],
  ] as const)
    verifies('kn.mcp.server', `at ${at} leaves no pin without a receipt, and the next start continues`, async () => {
      const declared = { server_id: 'notes', transport: 'http', url: notes.url };
      test.env['GOV_MCP_SERVERS'] = JSON.stringify({ servers: [declared] });
      const statement = await hold(at);
      killed = await spawnKernel(test.env);
      await statement.reached();
      await endKilled();
      expect(await changes('system')).toEqual(sealed);
      expect((await test.pool.query('SELECT 1 FROM mcp_tools WHERE pinned_hash IS NOT NULL')).rows).toEqual([]);
      await test.restart();
      expect(await changes('system')).toEqual(['mcp.server.declare', 'mcp.server.pin']);
      expect(await call()).toBe('ALLOWED');
    });
});

/** Waits until a session waits for the lock of the controls. */
async function waitsForControls(): Promise<void> {
  await untilReachable(async () => {
    const { rows } = await test.pool.query(
      `SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted AND query LIKE 'SELECT lock_controls%'`,
    );
    return rows.length > 0;
  });
}
