import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Digest } from '@countersign/contracts';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import { openKernelDatabase, type KernelDatabase } from '../src/store/database.ts';
import { createMcpRegistry } from '../src/store/mcp-registry.ts';
import { serviceDir } from './_service-dir.ts';

let scratch: TestDatabase;
let first: KernelDatabase;
let second: KernelDatabase;
beforeAll(async () => {
  scratch = await createTestDatabase({ serviceDir, schema: 'kernel' });
  first = openKernelDatabase(scratch.url);
  second = openKernelDatabase(scratch.url);
});
afterAll(async () => {
  await first?.close();
  await second?.close();
  await scratch?.drop();
});

const registryOf = (replica: KernelDatabase) => createMcpRegistry({ ...replica, clock: () => new Date() });
const hashOf = (version: number) => `sha256:${String(version).padStart(64, '0')}` as Digest;

/** A declared server that has listed nothing yet. */
async function declare(serverId: string): Promise<void> {
  await first.pool.query(
    `INSERT INTO mcp_servers (server_id, name, transport, config, state, created_at, updated_at)
     VALUES ($1, $1, 'http', '{}', 'approved', now(), now())`,
    [serverId],
  );
}

/** Two tools of a server at the given version. */
function seen(version: number) {
  return ['read', 'write'].map((name) => ({
    name,
    hash: hashOf(version),
    definition: { name, description: `version ${version}`, inputSchema: { type: 'object' as const } },
    effectLevel: 'E2' as const,
  }));
}

async function deadlocks(): Promise<number> {
  const { rows } = await first.pool.query<{ deadlocks: number }>(
    'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
  );
  return rows[0]?.deadlocks ?? -1;
}

describe('the registry of MCP servers', () => {
  it('records the first list without pins, since pins need a receipt', async () => {
    await declare('first');
    await registryOf(first).recordTools('first', seen(1), []);
    const { tools = [] } = (await registryOf(second).findServer('first')) ?? {};
    expect(tools.map(({ toolName, pinnedHash }) => [toolName, pinnedHash])).toEqual([
      ['read', null],
      ['write', null],
    ]);
  });

  it('keeps the pin of a changed tool, and gives no pin to a tool that appeared later', async () => {
    const registry = registryOf(first);
    await declare('moved');
    await registry.recordTools('moved', seen(1).slice(0, 1), []);
    await first.pool.query(`UPDATE mcp_tools SET pinned_hash = current_hash WHERE server_id = 'moved'`);
    await registry.recordTools('moved', seen(2), []);
    await registry.recordTools('moved', seen(3), []);
    const { tools = [] } = (await registry.findServer('moved')) ?? {};
    expect(
      tools.map(({ pinnedHash, currentHash, definition }) => [pinnedHash, currentHash, definition.description]),
    ).toEqual([
      [hashOf(1), hashOf(3), 'version 1'],
      [null, hashOf(3), 'version 3'],
    ]);
  });

  it('is changed and recorded concurrently without a deadlock', async () => {
    const [one, stranger] = [registryOf(first), registryOf(second)];
    await declare('ring');
    // Changes the row under the same lock as the ledger does.
    const change = (replica: KernelDatabase) =>
      replica.transaction(async (tx) => {
        await tx.$executeRaw`SELECT lock_controls(true)`;
        await tx.mcpServer.update({ where: { server_id: 'ring' }, data: { updated_at: new Date() } });
      });
    for (let round = 0; round < 40; round += 1)
      await Promise.all([
        change(first),
        stranger.recordTools('ring', seen(round), []),
        one.recordTools('ring', seen(round + 1), []),
        change(second),
      ]);
    expect(await deadlocks()).toBe(0);
  });
});
