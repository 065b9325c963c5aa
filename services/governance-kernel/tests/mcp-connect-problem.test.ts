import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '@countersign/service-kit';
import { Agent } from 'undici';
import { untilReachable } from '@countersign/testkit/until';
import type { McpServerConfig } from '../src/mcp/server-config.ts';
import { UpstreamServer } from '../src/mcp/upstream-server.ts';

type Told = { level: string; event: string; problem?: string };
const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

/** A server over stdio that Node runs `program` as, and what its log was told. */
function serverOf(program: string) {
  const told: Told[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      for (const line of chunk.toString().trim().split('\n')) told.push(JSON.parse(line) as Told); // our own log's
      done();
    },
  });
  const scratchDir = mkdtempSync(join(tmpdir(), 'countersign-mcp-problem-'));
  const agent = new Agent();
  const server = new UpstreamServer({
    config: {
      server_id: 'clock',
      transport: 'stdio',
      command: process.execPath,
      args: ['-e', program],
      env: {},
    } as McpServerConfig, // what it has no use for here is left out
    log: createLogger({ service: 'test', level: 'debug', stream }),
    ...{ sandbox: null, host: null as never, reachesPrivate: false }, // of sandboxes alone
    ...{ scratchDir, account: null, outputBytesMax: 10_000, agent, callTimeoutMs: 1_000, listAgeMaxMs: 1_000 },
    now: () => performance.now(), // as the kernel hands it over
    clock: () => new Date(),
    ...{ key: 'clock', refreshTokens: null as never }, // of OAuth alone
    onListed: () => Promise.resolve(),
  });
  ended.push(async () => {
    await server.close();
    await agent.destroy();
    rmSync(scratchDir, { recursive: true, force: true });
  });
  const warned = () => told.filter(({ level }) => level === 'warn');
  const failures = () => told.filter(({ event }) => event === 'mcp_server.connect_failed').length;
  return { server, warned, failures };
}

describe('an MCP server that cannot be connected to', () => {
  it('is told of once, with what the program said last, however often it is tried', async () => {
    const { server, warned, failures } = serverOf("require('/nope.mjs')");
    await server.start();
    await untilReachable(() => Promise.resolve(failures() >= 2), 60_000);
    expect(warned()).toMatchObject([
      { event: 'mcp_server.unreachable', problem: "node ended: Cannot find module '/nope.mjs'" },
    ]);
  });

  it('writes one short line that no terminal obeys', async () => {
    const { server, warned } = serverOf(
      "process.stderr.write('x'.repeat(9000) + '\\u001b[2J'.repeat(99)); process.exitCode = 1",
    );
    await server.start();
    const [{ problem = '' } = {}] = warned();
    expect(problem).toMatch(/^node ended: [ -~]+…$/);
    expect(problem.length).toBeLessThan(1_500);
  });

  it('is not told of while the kernel closes', async () => {
    const { server, warned, failures } = serverOf('setTimeout(() => process.exit(1), 200)');
    const started = server.start();
    server.beginClose();
    await started;
    expect({ warned: warned(), failures: failures() }).toEqual({ warned: [], failures: 0 });
  });
});
