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
const declaration = (serverId: string) => ({ serverId, transport: 'http', config: { url: 'http://localhost' } });

/** Two tools of a server in one version of itself. */
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
  it('holds one pin of a server that two replicas see for the first time at once', async () => {
    for (let round = 0; round < 10; round += 1) {
      const serverId = `first-${round}`;
      const [one, other] = [registryOf(first), registryOf(second)];
      await one.declareServer(declaration(serverId));
      await Promise.all([one.recordTools(serverId, seen(1), []), other.recordTools(serverId, seen(2), [])]);
      const { tools = [] } = (await one.findServer(serverId)) ?? {};
      expect(tools.map(({ toolName }) => toolName)).toEqual(['read', 'write']);
      const [pin, ...more] = new Set(
        tools.map(({ pinnedHash, definition }) => `${pinnedHash} ${definition.description}`),
      );
      expect([[`${hashOf(1)} version 1`, `${hashOf(2)} version 2`].includes(pin ?? ''), more]).toEqual([true, []]);
    }
  });

  it('notes what a pinned tool is now and keeps its pin; a tool that came later has none and follows its server', async () => {
    const registry = registryOf(first);
    await registry.declareServer(declaration('moved'));
    await registry.recordTools('moved', seen(1).slice(0, 1), []);
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

  it('is declared and recorded at once without waiting in a ring', async () => {
    const [one, other] = [registryOf(first), registryOf(second)];
    for (let round = 0; round < 40; round += 1)
      await Promise.all([
        one.declareServer(declaration('ring')),
        other.recordTools('ring', seen(round), []),
        one.recordTools('ring', seen(round + 1), []),
        other.declareServer(declaration('ring')),
      ]);
    expect(await deadlocks()).toBe(0);
  });
});
