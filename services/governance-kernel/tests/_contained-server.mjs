import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

// An MCP server over stdio that attempts the action that its caller names. Node receives the source text as an
// argument, so the sandbox needs no file.

const attempts = {
  read: ({ path }) => readFileSync(path, 'utf8'),
  write: ({ path }) => writeFileSync(path, 'written') ?? 'written',
  parentEnvironment: ({ pid }) => readFileSync(`/proc/${pid}/environ`, 'utf8'),
  connect: ({ port }) =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(socket.end() && 'connected')).once('error', reject);
    }),
  tunnel: ({ destination }) => tunnel(destination),
  variable: ({ name }) => process.env[name] ?? 'unset',
  fill: ({ path }) =>
    execFileSync('dd', ['if=/dev/zero', `of=${path}`, 'bs=1M', 'count=64'], { stdio: 'pipe' }) && 'filled',
  fork: () => execFileSync('sh', ['-c', 'for i in $(seq 300); do sleep 600 & done'], { stdio: 'ignore' }) ?? 'forked',
  // Allocates in a child process, because Node may exit when memory runs out.
  allocate: ({ mebibytes }) => execFileSync(process.execPath, ['-e', allocating(mebibytes)]) && 'allocated',
  hang: () => {
    process.on('SIGTERM', () => undefined);
    return new Promise(() => setInterval(() => process.stdout.write(' \n'), 20));
  },
};

function allocating(mebibytes) {
  return `Array.from({ length: ${mebibytes} }, () => Buffer.alloc(1_048_576, 1))`;
}

/** The proxy's answer to CONNECT, and the bytes that came through the tunnel. */
function tunnel(destination) {
  const [, host, port] = /^http:\/\/(.*):(\d+)$/.exec(process.env.HTTPS_PROXY ?? 'http://127.0.0.1:9');
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), host, () =>
      socket.write(`CONNECT ${destination} HTTP/1.1\r\nHost: ${destination}\r\n\r\n`),
    );
    let text = '';
    socket.on('data', (chunk) => {
      if (text === '') socket.write('hello');
      text += chunk;
    });
    socket.once('close', () => resolve(text));
    socket.once('error', reject);
  });
}

const attempt = async ({ what, ...args }) => {
  try {
    return String(await attempts[what](args));
  } catch (error) {
    return `failed: ${error.code ?? error.status ?? error.message}`;
  }
};

const properties = { what: { type: 'string' } };
const tool = { name: 'attempt', inputSchema: { type: 'object', properties }, annotations: { readOnlyHint: true } };
const results = {
  initialize: () => ({
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'x', version: '1' },
  }),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': async ({ arguments: args }) => ({ content: [{ type: 'text', text: await attempt(args) }] }),
};

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = results[method];
  const reply = answer ? { result: await answer(params) } : { error: { code: -32601, message: 'no such method' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...reply })}\n`);
});
