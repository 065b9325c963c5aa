import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@countersign/testkit/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mcpClient, openPolicy } from './_added-servers.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';

const program = readFileSync(new URL('_contained-server.mjs', import.meta.url)).toString('base64');
const command = {
  command: process.execPath,
  args: ['--input-type=module', '-e', `await import('data:text/javascript;base64,${program}')`],
};

let test: TestKernel;
let folder: string;
let silent: Server;
const open = new Set<Socket>();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-declared-'));
  await chmod(folder, 0o777);
  await writeFile(join(folder, 'outside.txt'), 'outside', { mode: 0o644 });
  silent = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined).once('close', () => open.delete(socket));
    socket.resume();
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const mcpServers = {
    named: {
      ...command,
      env: { TOKEN: 'its own' },
      sandbox: { preopens: [{ path: folder, mode: 'ro' }], network: [destination()] },
    },
    plain: { ...command },
  };
  test = await startTestKernel({
    env: {
      ...{ GOV_BWRAP_PATH: process.env['TEST_BWRAP_PATH'] ?? '', GOV_MCP_TIMEOUT: '20s', GOV_MCP_PRIVATE: '1' },
      ...{ GOV_MCP_SANDBOX: '1', GOV_MCP_SERVERS: JSON.stringify({ mcpServers }) },
    },
  });
  await test.activate('*', openPolicy);
});
afterAll(async () => {
  await test.close();
  silent.close();
  await rm(folder, { recursive: true, force: true });
});

const destination = () => `localhost:${(silent.address() as AddressInfo).port}`; // the server listens on TCP

async function statementOf(serverId: string, what: string, args: object = {}, tenant = 'acme') {
  const client = await mcpClient(test.kernel, tenant);
  try {
    const { content } = await client.callTool({ name: `${serverId}.attempt`, arguments: { what, ...args } });
    return content[0]?.type === 'text' ? content[0].text : null;
  } finally {
    await client.close();
  }
}

describe('a declared server', () => {
  it('with the member `sandbox` can read its preopens and its variables, but nothing of the kernel', async () => {
    expect(await statementOf('named', 'read', { path: join(folder, 'outside.txt') })).toBe('outside');
    expect(await statementOf('named', 'write', { path: join(folder, 'written.txt') })).toMatch(
      /^failed: E(ROFS|ACCES)$/,
    );
    expect(await statementOf('named', 'variable', { name: 'TOKEN' })).toBe('its own');
    expect(await statementOf('named', 'variable', { name: 'DATABASE_URL' })).toBe('unset');
    expect(await statementOf('named', 'parentEnvironment', { pid: process.pid })).toBe('failed: ENOENT');
    expect(await statementOf('named', 'tunnel', { destination: 'localhost:1' })).toContain('403');
  });

  it('without the member `sandbox` can use only its own folder if GOV_MCP_SANDBOX is set', async () => {
    expect(await statementOf('plain', 'read', { path: join(folder, 'outside.txt') })).toBe('failed: ENOENT');
    expect(await statementOf('plain', 'write', { path: '/data/written' })).toBe('written');
    expect(await statementOf('plain', 'tunnel', { destination: destination() })).toMatch(/^failed/);
  });

  it.each([
    ['a fence around it', 'server:named'],
    ['a fence around the installation', 'system'],
  ])('loses its open connections because of %s', async (_what, scope) => {
    const snapshot = statementOf('named', 'tunnel', { destination: destination() });
    await until(() => open.size === 1);
    await test.setFence(scope, 'freeze');
    expect(await snapshot).toContain('200 Connection established');
    await until(() => open.size === 0);
    await test.setFence(scope, 'open');
  });
});
