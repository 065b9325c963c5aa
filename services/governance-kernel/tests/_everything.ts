import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { untilReachable } from '@countersign/testkit/until';

/** Starts npm's `server-everything`, which has each feature of MCP 2025-11-25, as a separate process. */
export async function startEverything(): Promise<{ url: string; stop(): void }> {
  const entry = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
  const free = createServer();
  await once(free.listen(0, '127.0.0.1'), 'listening');
  const address = free.address();
  if (address === null || typeof address === 'string') throw new Error('There is no free port');
  await new Promise((resolve) => free.close(resolve));
  const url = `http://127.0.0.1:${address.port}/mcp`;
  const env = { PATH: process.env['PATH'], PORT: String(address.port) };
  const child = spawn(process.execPath, [entry, 'streamableHttp'], { env, stdio: 'ignore' });
  await untilReachable(() => fetch(url).then(() => true));
  return { url, stop: () => void child.kill() };
}
