import type { BenchDatabase } from './bench-database.ts';
import { openKernel, type Bench } from './bench.ts';
import type { Closing } from './closing.ts';
import type { Comparison, OpenComparison } from './comparison.ts';
import { toolCalling } from './governed-member.ts';
import { loadMember, type Member } from './member.ts';
import type { Running } from './processes.ts';
import { repeatAlone } from './repeat-alone.ts';
import { coldStartScan, toolAnswerBytes } from './requests.ts';
import { startStdioTools, stdioCommand } from './stdio-tools.ts';

/**
 * One stdio program, called in three ways: directly, through a kernel, and through a kernel that runs it in bubblewrap.
 * A second group starts the program for each call.
 */
export const sandboxComparison: Comparison = {
  groups: [
    ['stdioDirect', 'mcpStdio', 'mcpSandboxed'],
    ['plainStart', 'coldStart'],
  ],
  isOpenedOnce: true,
  open: openSandbox,
};

async function openSandbox(bench: Bench, closing: Closing): Promise<OpenComparison> {
  const database = await bench.seed.copy(closing);
  const kernel = await openKernel(bench, closing, database, {
    GOV_BWRAP_PATH: bwrapPath(),
    GOV_MCP_STDIO: '1',
    GOV_MCP_SERVERS: JSON.stringify({
      mcpServers: {
        plain: { ...stdioCommand(), trust_annotations: true },
        contained: { ...stdioCommand(), trust_annotations: true, sandbox: {} },
      },
    }),
  });
  const members = {
    stdioDirect: await callingDirectly(closing),
    mcpStdio: calling(bench, { database, kernel, tool: 'plain.fill' }),
    mcpSandboxed: calling(bench, { database, kernel, tool: 'contained.fill' }),
    plainStart: alone(async () => {
      const started = await startStdioTools();
      await started.stop();
    }),
    coldStart: loadMember({
      ...{ generator: bench.generator, headers: bench.settings.headers, servers: [kernel], connections: 1 },
      ...{ path: '/api/v1/mcp/scan', kind: coldStartScan(stdioCommand()) },
    }),
  };
  return { members, databases: [database] };
}

function bwrapPath(): string {
  const { TEST_BWRAP_PATH: path } = process.env;
  if (path !== undefined && path !== '') return path;
  throw new Error('TEST_BWRAP_PATH is missing. Run tests/runner/run-tests.mjs --bench, which finds bubblewrap.');
}

type Called = { database: BenchDatabase; kernel: Running; tool: string };

function calling(bench: Bench, { database, kernel, tool }: Called): Member {
  return toolCalling(bench, database, kernel, { connections: 1, tool });
}

async function callingDirectly(closing: Closing): Promise<Member> {
  const tools = await startStdioTools();
  closing.add(() => tools.stop());
  return alone(async () => {
    const line = await tools.ask('tools/call', { name: 'fill', arguments: { bytes: toolAnswerBytes } });
    if (!line.includes('x'.repeat(toolAnswerBytes))) throw new Error(`The tool does not answer as expected: ${line}`);
  });
}

/** A member without a server whose CPU could be counted. */
function alone(work: () => Promise<void>): Member {
  return {
    servers: [],
    tryOnce: work,
    measure: async (seconds) => ({ ...(await repeatAlone(work, seconds)), cpuMicros: null, generatorBusy: null }),
  };
}
