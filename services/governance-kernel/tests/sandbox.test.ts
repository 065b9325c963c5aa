import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type LookupFunction, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reaching, until } from '@countersign/testkit/until';
import type { SandboxTerms } from '@countersign/contracts/governance-kernel';
import { verifies } from '@countersign/testkit/verifies';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { z } from 'zod';
import { addServer, approveServerAt, mcpClient, openPolicy } from './_added-servers.ts';
import { EgressProxy } from '../src/sandbox/egress-proxy.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';

const program = readFileSync(new URL('_contained-server.mjs', import.meta.url)).toString('base64');
const command = {
  command: process.execPath,
  args: ['--input-type=module', '-e', `await import('data:text/javascript;base64,${program}')`],
};

/** Whatever the policy allows, `shell.run` needs a sandbox. */
const policy = `${openPolicy}
tools:
  shell.run: { effect_level: E1, sandbox: true }
  plain.run: { effect_level: E1 }
`;

let test: TestKernel;
let folder: string;
let nowMs = Date.now();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-sandbox-'));
  await chmod(folder, 0o777);
  test = await startTestKernel({
    env: { GOV_BWRAP_PATH: process.env['TEST_BWRAP_PATH'] ?? '', GOV_MCP_TIMEOUT: '3s', GOV_MCP_PRIVATE: '1' },
    overrides: { clock: () => new Date(nowMs++) },
  });
  await test.activate('*', policy);
});
afterAll(async () => {
  await test.close();
  await rm(folder, { recursive: true, force: true });
});

const operator = () => test.as('acme', 'operator-1');

type Given = Partial<z.input<typeof SandboxTerms>> & { expires_in_seconds?: number };

async function grant(subject: { server_id: string } | { tool: string }, terms: Given = {}, tenant = 'acme') {
  const body = { subject, expires_in_seconds: 600, ...terms };
  return (await test.as(tenant, 'operator-1').createSandboxGrant({ query: {}, body: body as never })).body; // branded and defaulted by the schema
}

/** Adds the server, grants it its terms, and has two people approve it. */
async function contained(
  serverId: string,
  terms: Given | null = null,
  { env = {}, tenant = 'acme' }: { env?: Record<string, string>; tenant?: string } = {},
) {
  const args = [...command.args, `marker-${serverId}-${process.pid}`];
  await addServer(test.as(tenant, 'operator-1'), { mcpServers: { [serverId]: { ...command, args, env } } });
  if (terms !== null) await grant({ server_id: serverId }, terms, tenant);
  await approveServerAt(test.kernel, { serverId, tenant });
  const client = await mcpClient(test.kernel, tenant);
  const call = async (what: string, args: object = {}) =>
    await client.callTool({ name: `${serverId}.attempt`, arguments: { what, ...args } });
  const said = async (what: string, args: object = {}) => {
    const { content } = await call(what, args);
    return content[0]?.type === 'text' ? content[0].text : null;
  };
  return { call, said, close: () => client.close() };
}

it('offers a profile only by a probe that achieves outside what it cannot inside', async () => {
  const { body } = await operator().listSandboxProfiles({ query: {} });
  const bubblewrap = body.profiles.find(({ profile }) => profile === 'bubblewrap');
  expect(bubblewrap).toMatchObject({ available: true, strength: 'isolated' });
  for (const attempt of ['read_outside', 'see_processes', 'open_network'])
    expect(bubblewrap?.probe).toContainEqual({ attempt, inside: 'failed', outside: 'succeeded', contained: true });
  const weak = body.profiles.find(({ profile }) => profile === 'node-permission');
  expect(weak).toMatchObject({ available: true, strength: 'weak' });
  const open = { attempt: 'open_network', inside: 'succeeded', outside: 'succeeded', contained: false };
  expect(weak?.probe).toContainEqual(open);
});

describe('a command that is added at run time', () => {
  verifies(
    'kn.sandbox',
    'reads nothing but its folder and preopens, reaches no network, and does not outlive its limits, as sealed outcomes say',
    async () => {
      await writeFile(join(folder, 'outside.txt'), 'outside', { mode: 0o644 });
      const host = createServer((socket) => socket.end());
      await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
      const { port } = host.address() as AddressInfo; // it listens on a port
      const limits = { memory_bytes: 256 * 1_048_576, processes: 32, file_bytes: 1_048_576 };
      const server = await contained('held', { env: ['TOKEN'], limits }, { env: { TOKEN: 'its own' } });
      expect(await server.said('read', { path: join(folder, 'outside.txt') })).toBe('failed: ENOENT');
      expect(await server.said('parentEnvironment', { pid: process.pid })).toBe('failed: ENOENT');
      expect(await server.said('connect', { port })).toBe('failed: ECONNREFUSED');
      expect(await server.said('write', { path: '/usr/written' })).toMatch(/^failed: E(ROFS|ACCES)$/);
      expect(await server.said('write', { path: '/data/written' })).toBe('written');
      expect(await server.said('fill', { path: '/dev/shm/filled' })).toMatch(/^failed/);
      expect(await server.said('variable', { name: 'TOKEN' })).toBe('its own');
      expect(await server.said('variable', { name: 'DATABASE_URL' })).toBe('unset');
      expect(await server.said('fork')).toMatch(/^failed/);
      expect(await server.said('allocate')).toMatch(/^failed/);
      expect(await server.said('fill', { path: '/data/filled' })).toMatch(/^failed/);
      host.close();
      await server.close();
      const { body } = await operator().inspectSandboxGrant({ query: { server_id: 'held' } });
      const { body: records } = await operator().listRecords({ query: {} });
      const sealed = records.data.find(({ mcp_server_id: id, kind }) => id === 'held' && kind === 'decision');
      expect(sealed).toMatchObject({ verdict: 'ALLOW', sandbox_grant_hash: body.grant_hash });
      expect(body).toMatchObject({ source: 'grant', terms: { profile: 'bubblewrap', network: [], preopens: [] } });
    },
  );
});

describe('a hostile command', () => {
  it('that ignores its end and answers for ever is cut off, and other calls are answered', async () => {
    const server = await contained('endless');
    const { body: held } = await operator().inspectSandboxGrant({ query: { server_id: 'endless' } });
    expect(held).toMatchObject({
      source: 'default',
      terms: { profile: 'bubblewrap', network: [], preopens: [], env: [] },
    });
    const hanging = server.call('hang');
    expect((await evaluated('plain.run')).verdict).toBe('ALLOW');
    await until(() => sandboxes('endless') > 0);
    expect(await hanging).toMatchObject({ isError: true });
    await test.as('acme').revokeMcpServer({
      params: { server_id: 'endless' },
      body: { tenant_id: 'acme', reason: 'it hangs' },
    });
    await until(() => sandboxes('endless') === 0);
    await server.close();
  });
});

describe('a grant', () => {
  verifies('kn.fc.overgrant', 'is exceeded by no request: the preflight of more is denied and sealed', async () => {
    const granted = await grant(
      { tool: 'shell.run' },
      { preopens: [{ path: folder, mode: 'ro' }], network: ['example.org:443'] },
    );
    const asked = (request: object) => preflighted('shell.run', request);
    expect(
      await asked({ preopens: [{ path: `${folder}/below`, mode: 'ro' }], network: ['example.org:443'] }),
    ).toMatchObject({
      verdict: 'ALLOW',
    });
    for (const request of [
      { preopens: [{ path: folder, mode: 'rw' }] },
      { preopens: [{ path: `${folder}-beside`, mode: 'ro' }] },
      { network: ['example.org:22'] },
      { env: ['HOME'] },
      { limits: { processes: 65 } },
      { profile: 'none' },
    ]) {
      const denied = await asked(request);
      expect([request, denied.reason_code]).toEqual([request, 'SANDBOX_OVERGRANT']);
      const { body: record } = await operator().getRecord({
        params: { record_id: denied.record_id },
        query: {},
      });
      expect(record).toMatchObject({ verdict: 'DENY', sandbox_grant_hash: granted.grant_hash });
    }
  });

  it('lets a tool pass that the bundle keeps in a sandbox, until it expires', async () => {
    const tenant = test.as('lapsed', 'operator');
    const body = { subject: { tool: 'shell.run' }, expires_in_seconds: 60 } as never;
    expect(await evaluated('shell.run', 'lapsed')).toMatchObject({ reason_code: 'SANDBOX_GRANT_MISSING' });
    const { body: granted } = await tenant.createSandboxGrant({ query: {}, body });
    expect(await evaluated('shell.run', 'lapsed')).toMatchObject({ verdict: 'ALLOW' });
    expect(await evaluated('shell.run', 'another')).toMatchObject({ reason_code: 'SANDBOX_GRANT_MISSING' });
    const checked = { params: { grant_id: granted.grant_id }, query: {}, body: {} } as never;
    expect((await tenant.verifySandboxGrant(checked)).body).toMatchObject({ dispatch_ready: true, findings: [] });
    nowMs += 61_000;
    expect(await evaluated('shell.run', 'lapsed')).toMatchObject({ reason_code: 'SANDBOX_GRANT_MISSING' });
    expect((await tenant.verifySandboxGrant(checked)).body.findings).toMatchObject([{ code: 'EXPIRED' }]);
  });

  it('of a server is replaced by the next one, under which its process starts again', async () => {
    await writeFile(join(folder, 'granted.txt'), 'granted', { mode: 0o644 });
    const path = join(folder, 'granted.txt');
    const server = await contained('replaced', { preopens: [{ path: folder, mode: 'ro' }] });
    expect(await server.said('read', { path })).toBe('granted');
    expect(await server.said('write', { path: join(folder, 'new.txt') })).toBe('failed: EROFS');
    await grant({ server_id: 'replaced' }, { preopens: [{ path: folder, mode: 'rw' }] });
    expect(await server.said('write', { path: join(folder, 'new.txt') })).toBe('written');
    await grant({ server_id: 'replaced' });
    expect(await server.said('read', { path })).toBe('failed: ENOENT');
    await server.close();
  });
});

describe('the way out of a sandbox', () => {
  let echo: Server;
  let port: number;
  beforeEach(async () => {
    echo = createServer((socket) =>
      socket.once('data', (data) => socket.end(`echo ${data.toString()}${'.'.repeat(2_000)}`)),
    );
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
    port = (echo.address() as AddressInfo).port; // it listens on a port
  });
  afterEach(() => void echo.close());

  it('leads to granted destinations alone, until the egress budget is used up, and a refusal is sealed', async () => {
    const destination = `localhost:${port}`;
    const budget = { subject: 'tenant', window: 'total', egress_limit_bytes: 1_000 } as never; // defaulted by the schema
    await test.as('metered').putBudget({ params: { budget_id: 'sent' }, query: {}, body: budget });
    const server = await contained('reaching', { network: [destination] }, { tenant: 'metered' });
    expect(await server.said('tunnel', { destination: `127.0.0.1:${port}` })).toContain('403');
    const refused = await reaching(refusal, (found) => found !== undefined);
    expect(refused).toMatchObject({
      verdict: 'DENY',
      reason_code: 'EGRESS_BLOCKED',
      principal_id: 'mcp-server:reaching',
    });
    expect(await server.said('tunnel', { destination })).toContain('200 Connection established');
    expect(await server.said('tunnel', { destination })).toContain('BUDGET_EXCEEDED');
    const { body } = await test.system.getBudget({ params: { tenant: 'metered', budget_id: 'sent' } });
    expect(body.used.egress_bytes).toBeGreaterThan(2_000);
    await server.close();
  });

  verifies(
    'kn.fc.egress',
    'is closed to destinations that are not granted, and to names of private addresses',
    async () => {
      const refused: string[] = [];
      const account = {
        take: () => Promise.resolve(true),
        isStopped: () => Promise.resolve(false),
        refuse: async (to: string, why: string) => void refused.push(`${to} ${why}`),
      };
      const destinations = [`localhost:${port}`, `127.0.0.1:${port}`, '169.254.169.254:80', '[::ffff:127.0.0.1]:80'];
      const proxy = await EgressProxy.open({ destinations, socketDir: folder, account });
      for (const destination of destinations) expect(await connectedBy(proxy, destination)).toContain(' 403 ');
      expect(await connectedBy(proxy, 'example.org:443')).toContain(' 403 ');
      expect(await connectedBy(proxy, 'example.org:443@localhost')).toContain(' 400 ');
      const why = 'The name leads to an address that is not public';
      expect(refused).toEqual([
        ...destinations.map((destination) => `${destination} ${why}`),
        'example.org:443 The sandbox grant does not name this destination',
      ]);
      await proxy.close();
    },
  );

  it('resolves a name once, and connects to the address that was checked', async () => {
    const asked: string[] = [];
    const lookup: LookupFunction = (host, _options, found) => {
      asked.push(host);
      found(null, '127.0.0.1', 4);
    };
    const account = {
      take: () => Promise.resolve(true),
      isStopped: () => Promise.resolve(false),
      refuse: () => Promise.resolve(),
    };
    const proxy = await EgressProxy.open({
      destinations: [`pinned.example:${port}`],
      socketDir: folder,
      account,
      lookup,
    });
    expect(await connectedBy(proxy, `pinned.example:${port}`)).toContain('echo hello');
    expect(asked).toEqual(['pinned.example']);
    await proxy.close();
  });

  it('counts what a connection sent that was reset, before another one sends', async () => {
    const taken: number[] = [];
    const account = {
      take: (bytes: number) => Promise.resolve(taken.push(bytes) > 0),
      isStopped: () => Promise.resolve(false),
      refuse: () => Promise.resolve(),
    };
    let resets = 0;
    const silent = createServer((socket) =>
      socket.once('data', () => socket.resetAndDestroy()).on('error', () => resets++),
    );
    silent.on('connection', (socket) => socket.once('close', () => resets++));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const destination = `localhost:${(silent.address() as AddressInfo).port}`; // it listens on a port
    const lookup: LookupFunction = (_host, _options, found) => found(null, '127.0.0.1', 4);
    const proxy = await EgressProxy.open({ destinations: [destination], socketDir: folder, account, lookup });
    await connectedBy(proxy, destination).catch(() => undefined);
    await until(() => resets > 0);
    await connectedBy(proxy, destination).catch(() => undefined);
    expect(taken.slice(0, 2)).toEqual([0, 'hello'.length]);
    await proxy.close();
    silent.close();
  });
});

/** The proxy's answer to CONNECT, and the bytes that come through it. */
async function connectedBy({ path }: EgressProxy, destination: string): Promise<string> {
  const socket = connect(path, () => socket.write(`CONNECT ${destination} HTTP/1.1\r\nHost: x\r\n\r\n`));
  let text = '';
  for await (const chunk of socket) {
    if (text === '') socket.write('hello');
    text += String(chunk);
  }
  return text;
}

/** Processes of this machine with the marker of the server, those in sandboxes included. */
function sandboxes(serverId: string): number {
  const marker = `marker-${serverId}-${process.pid}`;
  const pids = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name));
  return pids.filter((pid) => commandLine(pid).includes(marker)).length;
}

/** Empty for a process that ended in the meantime. */
function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

async function evaluated(tool: string, tenant = 'acme') {
  const body = { action: 'tool.call', tool, session_id: 'evaluated', args: {}, context: {}, mode: 'enforce' };
  return (await test.as(tenant, 'agent').evaluate({ body: body as never })).body; // branded by the schema
}

async function preflighted(tool: string, request: object) {
  const body = { tool, session_id: 'preflight', request } as never; // branded and defaulted by the schema
  return (await test.as('acme', 'agent').preflightSandbox({ query: {}, body })).body;
}

/** The sealed refusal of a destination. */
async function refusal() {
  const { body } = await test.as('metered').listReceipts({ query: { action: 'data.egress' } });
  return body.data.map(({ payload }) => payload)[0];
}
