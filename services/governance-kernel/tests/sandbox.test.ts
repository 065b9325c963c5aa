import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reaching, until } from '@countersign/testkit/until';
import type { SandboxTerms } from '@countersign/contracts/governance-kernel';
import { verifies } from '@countersign/testkit/verifies';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { z } from 'zod';
import { addServer, approveServerAt, mcpClient, openPolicy } from './_added-servers.ts';
import { EgressProxy } from '../src/controls/sandbox/egress-proxy.ts';
import { connectedBy } from './_egress.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';

const program = readFileSync(new URL('_contained-server.mjs', import.meta.url)).toString('base64');
const command = {
  command: process.execPath,
  args: ['--input-type=module', '-e', `await import('data:text/javascript;base64,${program}')`],
};

/** `shell.run` needs a sandbox, whatever the policy allows. */
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
    // One test waits for this timeout. All others need less, even on a slow machine.
    env: { GOV_BWRAP_PATH: process.env['TEST_BWRAP_PATH'] ?? '', GOV_MCP_TIMEOUT: '15s', GOV_MCP_PRIVATE: '1' },
    overrides: { clock: () => new Date(nowMs++) },
  });
  await test.activate('*', policy);
});
afterAll(async () => {
  await test.close();
  await rm(folder, { recursive: true, force: true });
});

const operator = () => test.as('acme', 'operator-1');

type Options = Partial<z.input<typeof SandboxTerms>> & { expires_in_seconds?: number };

async function grant(subject: { server_id: string } | { tool: string }, terms: Options = {}, tenant = 'acme') {
  const body = { subject, expires_in_seconds: 600, ...terms };
  return (await test.as(tenant, 'operator-1').createSandboxGrant({ query: {}, body: body as never })).body; // branded and defaulted by the schema
}

/** Adds the server, creates a grant with `terms` unless they are `null`, and has the server approved. */
async function contained(
  serverId: string,
  terms: Options | null = null,
  {
    env = {},
    tenant = 'acme',
    start = command,
  }: { env?: Record<string, string>; tenant?: string; start?: typeof command } = {},
) {
  const args = [...start.args, `marker-${serverId}-${process.pid}`];
  await addServer(test.as(tenant, 'operator-1'), { mcpServers: { [serverId]: { ...start, args, env } } });
  if (terms !== null) await grant({ server_id: serverId }, terms, tenant);
  // Without its grant, a script on the host does not start. The server is therefore added again under the grant.
  if (start !== command)
    await addServer(test.as(tenant, 'operator-1'), { mcpServers: { [serverId]: { ...start, args, env } } });
  await approveServerAt(test.kernel, { serverId, tenant });
  const client = await mcpClient(test.kernel, tenant);
  const call = async (what: string, args: object = {}) =>
    await client.callTool({ name: `${serverId}.attempt`, arguments: { what, ...args } });
  const statementOf = async (what: string, args: object = {}) => {
    const { content } = await call(what, args);
    return content[0]?.type === 'text' ? content[0].text : null;
  };
  return { call, said: statementOf, close: () => client.close() };
}

it('a sandbox profile is offered only when its probe fails inside and succeeds outside', async () => {
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

describe('a grant', () => {
  verifies(
    'kn.sandbox',
    'applies only to the command that it was created for, even if another one gets the same server name',
    async () => {
      const serverId = 'bound';
      const owner = test.as('bound', 'owner-1');
      const added = (...more: string[]) =>
        addServer(owner, { mcpServers: { [serverId]: { ...command, args: [...command.args, ...more] } } });
      await added();
      const terms = { preopens: [{ path: folder, mode: 'rw' as const }] };
      const { grant_id } = await grant({ server_id: serverId }, terms, 'bound');
      const verified = async () =>
        (await owner.verifySandboxGrant({ params: { grant_id }, query: {}, body: {} })).body.findings.map(
          ({ code }) => code,
        );
      expect([(await added()).problem, await verified()]).toEqual([null, []]);

      const changed = await added('another');
      expect(changed).toMatchObject({ problem: expect.stringContaining('a different configuration') });
      expect(await verified()).toEqual(['CONFIGURATION_CHANGED']);
      const { body: scanned } = await owner.scanMcpServer({
        query: {},
        body: { mcpServers: { [serverId]: { ...command, args: [...command.args, 'a third one'] } } },
      });
      expect(scanned.reports).toMatchObject([{ problem: expect.stringContaining('a different configuration') }]);

      await grant({ server_id: serverId }, terms, 'bound');
      expect((await added('another')).problem).toBeNull();
    },
  );

  verifies('kn.sandbox', 'keeps the variables of a server away from the programs that create its sandbox', async () => {
    const env = { LD_DEBUG: 'files', LD_DEBUG_OUTPUT: join(folder, 'escaped') };
    await addServer(operator(), { mcpServers: { loading: { ...command, env } } });
    expect(readdirSync(folder).filter((name) => name.startsWith('escaped'))).toEqual([]);
    const server = await contained('loads', null, { env: { LD_LIBRARY_PATH: '/opt/none', PLAIN: 'its own' } });
    expect(await server.said('variable', { name: 'LD_LIBRARY_PATH' })).toBe('/opt/none');
    expect(await server.said('variable', { name: 'PLAIN' })).toBe('its own');
    await server.close();
    const start = {
      command: process.execPath,
      args: [fileURLToPath(new URL('_contained-server.mjs', import.meta.url))],
    };
    const weak = { ...start, env: { NODE_OPTIONS: '--allow-fs-read=*' } };
    await addServer(operator(), { mcpServers: { options: weak } });
    await grant({ server_id: 'options' }, { profile: 'node-permission', env: ['NODE_OPTIONS'] });
    const { problem } = await addServer(operator(), { mcpServers: { options: weak } });
    expect(problem).toContain('NODE_OPTIONS');
  });

  it('gives a server a folder that a server of another tenant with the same name cannot read', async () => {
    const start = {
      command: process.execPath,
      args: [fileURLToPath(new URL('_contained-server.mjs', import.meta.url))],
    };
    const startFor = (tenant: string) => contained('homes', { profile: 'node-permission' }, { tenant, start });
    const [one, second] = [await startFor('home-one'), await startFor('home-other')];
    const [home, another] = [
      await one.said('variable', { name: 'HOME' }),
      await second.said('variable', { name: 'HOME' }),
    ];
    expect(home).not.toBe(another);
    const path = join(home ?? '', 'secret');
    expect(await one.said('write', { path })).toBe('written');
    expect(await one.said('read', { path })).toBe('written');
    expect(await second.said('read', { path })).toMatch(/^failed/);
    await Promise.all([one.close(), second.close()]);
  });
});

describe('a command added at run time', () => {
  verifies(
    'kn.sandbox',
    'reads only its folder and preopens, reaches no network and keeps its limits; its record has the grant hash',
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
      expect(await server.said('allocate', { mebibytes: 8 })).toBe('allocated');
      expect(await server.said('allocate', { mebibytes: 4_096 })).toMatch(/^failed/);
      expect(await server.said('fork')).toMatch(/^failed/);
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
  it('that ignores termination and never ends is cut off, while other calls are answered', async () => {
    const server = await contained('endless');
    const { body: snapshot } = await operator().inspectSandboxGrant({ query: { server_id: 'endless' } });
    expect(snapshot).toMatchObject({
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
  verifies('kn.fc.overgrant', 'denies and seals the preflight of a request that exceeds it', async () => {
    const granted = await grant(
      { tool: 'shell.run' },
      { preopens: [{ path: folder, mode: 'ro' }], network: ['example.org:443'] },
    );
    const ask = (request: object) => preflighted('shell.run', request);
    expect(
      await ask({ preopens: [{ path: `${folder}/below`, mode: 'ro' }], network: ['example.org:443'] }),
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
      const denied = await ask(request);
      expect([request, denied.reason_code]).toEqual([request, 'SANDBOX_OVERGRANT']);
      const { body: record } = await operator().getRecord({
        params: { record_id: denied.record_id },
        query: {},
      });
      expect(record).toMatchObject({ verdict: 'DENY', sandbox_grant_hash: granted.grant_hash });
    }
  });

  it('allows a tool that the bundle restricts to a sandbox, until it expires', async () => {
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

  it('of a server is replaced by the next one, which restarts its process', async () => {
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

describe('egress from a sandbox', () => {
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

  it('reaches only granted destinations until the egress budget is used up, and seals each refusal', async () => {
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

  verifies('kn.fc.egress', 'is blocked to destinations without a grant and to private addresses', async () => {
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
  });
});

/** The number of processes on this machine with the marker of the server, including those in sandboxes. */
function sandboxes(serverId: string): number {
  const marker = `marker-${serverId}-${process.pid}`;
  const pids = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name));
  return pids.filter((pid) => commandLine(pid).includes(marker)).length;
}

/** The command line of a process. Empty if the process has ended. */
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
