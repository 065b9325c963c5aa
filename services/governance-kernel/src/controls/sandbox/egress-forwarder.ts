import { egressSocketInside, type Launch } from './bubblewrap.ts';

/** Any port works, since the sandbox has a network of its own. */
const proxyPort = 3128;

/**
 * The program that runs first in a sandbox whose grant names destinations. It forwards loopback connections to the
 * proxy's socket, starts the server, and ends with it. Clients find the proxy by the usual environment variables.
 */
const program = `
const { createServer, connect } = require('node:net');
const { spawn } = require('node:child_process');
const [socket, port, command, ...args] = process.argv.slice(1);
createServer((from) => {
  const to = connect(socket);
  const end = () => { from.destroy(); to.destroy(); };
  for (const one of [from, to]) one.on('error', end).on('close', end);
  from.pipe(to).pipe(from);
}).listen(Number(port), '127.0.0.1', () => {
  const child = spawn(command, args, { stdio: 'inherit' });
  child.once('error', (error) => { console.error(error.message); process.exit(127); });
  child.once('exit', (code) => process.exit(code ?? 1));
});
`;

export function withForwarder({ command, args }: Launch): Launch {
  return {
    command: process.execPath,
    args: ['-e', program, egressSocketInside, String(proxyPort), command, ...args],
  };
}

const proxyUrl = `http://127.0.0.1:${proxyPort}`;

export const proxyVariables: Readonly<Record<string, string>> = {
  HTTPS_PROXY: proxyUrl,
  https_proxy: proxyUrl,
  HTTP_PROXY: proxyUrl,
  http_proxy: proxyUrl,
  ALL_PROXY: proxyUrl,
  NO_PROXY: 'localhost,127.0.0.1,::1',
  NODE_USE_ENV_PROXY: '1',
};
