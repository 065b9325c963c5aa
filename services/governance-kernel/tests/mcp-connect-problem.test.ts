import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '@countersign/service-kit';
import { Agent } from 'undici';
import { untilReachable } from '@countersign/testkit/until';
import type { McpServerConfig } from '../src/doors/mcp/server-config.ts';
import { UpstreamServer } from '../src/doors/mcp/upstream-server.ts';
import { SandboxHost } from '../src/controls/sandbox/host.ts';

type Report = { level: string; event: string; problem?: string };
const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

/** A stdio server that runs `program` with Node, and the messages in its log. */
function serverOf(program: string) {
  const messages: Report[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      for (const line of chunk.toString().trim().split('\n')) messages.push(JSON.parse(line) as Report); // our own log
      done();
    },
  });
  const scratchDir = mkdtempSync(join(tmpdir(), 'countersign-mcp-problem-'));
  const agent = new Agent();
  const clock = () => new Date();
  const server = new UpstreamServer({
    config: {
      server_id: 'clock',
      transport: 'stdio',
      command: process.execPath,
      args: ['-e', program],
      env: {},
    } as McpServerConfig, // without the members that this test does not use
    log: createLogger({ service: 'test', level: 'debug', stream }),
    host: new SandboxHost({ bwrapPath: null, account: null, scratchDir, clock }),
    ...{ sandbox: null, reachesPrivate: false },
    ...{ scratchDir, account: null, outputBytesMax: 10_000, agent, callTimeoutMs: 1_000, listAgeMaxMs: 1_000 },
    now: () => performance.now(), // the clock that the kernel passes
    clock,
    ...{ key: 'clock', refreshTokens: null as never }, // used only for OAuth
    onListed: () => Promise.resolve(),
  });
  ended.push(async () => {
    await server.close();
    await agent.destroy();
    rmSync(scratchDir, { recursive: true, force: true });
  });
  const warned = () => messages.filter(({ level }) => level === 'warn');
  const failures = () => messages.filter(({ event }) => event === 'mcp_server.connect_failed').length;
  return { server, warned, failures };
}

describe('an unreachable MCP server', () => {
  it('is logged once with the last output of its program, however often the connection fails', async () => {
    const { server, warned, failures } = serverOf("require('/nope.mjs')");
    await server.start();
    await untilReachable(() => Promise.resolve(failures() >= 2));
    expect(warned()).toMatchObject([
      { event: 'mcp_server.unreachable', problem: "node ended: Cannot find module '/nope.mjs'" },
    ]);
  });

  it('is logged in one short line without terminal control characters', async () => {
    const { server, warned } = serverOf(
      "process.stderr.write('x'.repeat(9000) + '\\u001b[2J'.repeat(99)); process.exitCode = 1",
    );
    await server.start();
    const [{ problem = '' } = {}] = warned();
    expect(problem).toMatch(/^node ended: [ -~]+…$/);
    expect(problem.length).toBeLessThan(1_500);
  });

  it('is not logged while the kernel shuts down', async () => {
    const { server, warned, failures } = serverOf('setTimeout(() => process.exit(1), 200)');
    const started = server.start();
    server.beginClose();
    await started;
    expect({ warned: warned(), failures: failures() }).toEqual({ warned: [], failures: 0 });
  });
});
