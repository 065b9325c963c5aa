import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** The same command for every side, inside a sandbox and outside. It contains the built program as text. */
export function stdioCommand(): { command: string; args: string[] } {
  const program = readFileSync(new URL('processes/stdio-tools.js', import.meta.url)).toString('base64');
  return {
    command: process.execPath,
    args: ['--input-type=module', '-e', `await import('data:text/javascript;base64,${program}')`],
  };
}

type StdioTools = { ask(method: string, params: object): Promise<string>; stop(): Promise<void> };

/** Starts the server without anything in front of it, and lists its tools. It handles one request at a time. */
export async function startStdioTools(): Promise<StdioTools> {
  const { command, args } = stdioCommand();
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let id = 0;
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = async (method: string, params: object) => {
    id += 1;
    send({ id, method, params });
    const line = await lines.next();
    if (line.done === true) throw new Error('The MCP server of the bench ended before it answered');
    return line.value;
  };
  await ask('initialize', {
    ...{ protocolVersion: '2025-11-25', capabilities: {} },
    clientInfo: { name: 'bench', version: '1' },
  });
  send({ method: 'notifications/initialized' });
  await ask('tools/list', {});
  const stop = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  return { ask, stop };
}
