// Parts that are expensive to start and shared by many test files. They live in the process that runs Jest, since
// workers come and go. Each part starts at the first request of a worker. All parts stop at the end of the run.
import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { nodeFlags } from './node-flags-of.mjs';

/**
 * Serves on a socket in `scratch`:
 * - `/cluster`: the folder of a stopped, migrated PostgreSQL cluster without fsync, to begin a data directory with.
 * - `/system/<worker>`: the whole system, one for each worker of Jest; `/system/<worker>/log`: the lines that it wrote
 * - `/browser/<worker>`: the address of a Chromium to connect to, one for each worker of Jest
 * @param {string} scratch
 * @param {string} chromiumPath the program
 * @returns {Promise<{ socket: string, close(): Promise<void> }>}
 */
export async function serveSharedParts(scratch, chromiumPath) {
  const started = new Map();
  const once = (path, start) => {
    if (!started.has(path)) started.set(path, start());
    return started.get(path);
  };
  const cluster = () => once('/cluster', () => createCluster(join(scratch, 'cluster')));
  const partAt = async (path) => {
    const [, system, worker, log] = /^(\/system\/(\w+))(\/log)?$/.exec(path) ?? [];
    if (log !== undefined) return { lines: (await started.get(system))?.lines() ?? [] };
    if (worker !== undefined)
      return once(path, async () => startSystem(join(scratch, `system-${worker}`), await cluster()));
    // A crashed browser is started again for the next file.
    if (/^\/browser\/\w+$/.test(path)) return once(path, () => startChromium(chromiumPath, () => started.delete(path)));
    if (path === '/cluster') return cluster();
    throw new Error(`There is no shared part ${path}`);
  };
  const server = createServer(async (req, res) => {
    const [status, body] = await partAt(req.url).then(
      ({ stop, ...segment }) => [200, segment],
      (error) => [500, { error: String(error) }],
    );
    res.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(body));
  });
  const socket = join(scratch, 'parts.sock');
  await new Promise((resolve, reject) => server.once('error', reject).listen(socket, resolve));
  return {
    socket,
    close: async () => {
      server.close();
      const pieces = await Promise.allSettled(started.values());
      await Promise.all(pieces.map(({ value }) => value?.stop?.()));
    },
  };
}

async function createCluster(path) {
  const { createClusterTemplate } = await import('../../infra/local/dist/cluster-template.js');
  await createClusterTemplate(path, { ...console, debug: () => {} });
  // Without fsync, commits do not wait for the disk. Only few tests need durable commits.
  appendFileSync(join(path, 'postgres/cluster/postgresql.auto.conf'), 'fsync = off\nfull_page_writes = off\n');
  return { path: join(path, 'postgres') };
}

/**
 * Passkeys are bound to the host of the public address. The self test is off, since it only warms up a kernel for load.
 * A governed call of a slow machine is not late.
 */
const variables = {
  GOV_RATE_LIMITS: '0',
  GOV_GOVERNANCE_TIMEOUT: '10m',
  GOV_PUBLIC_URL: 'http://localhost:8080',
  GOV_SELF_TEST_DECISIONS: '0',
};

async function startSystem(dataDir, { path }) {
  const { startSystem: start } = await import('../../infra/local/dist/started-system.js');
  mkdirSync(dataDir, { mode: 0o711 });
  chmodSync(dataDir, 0o711);
  execFileSync('cp', ['-a', path, join(dataDir, 'postgres')]);
  const { lines, kill, ...system } = await start({ dataDir, variables, nodeArgs: nodeFlags() });
  return { ...system, dataDir, lines: () => lines };
}

const chromiumFlags = [
  ...['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync'],
];
/** A busy machine needs a while to start Chromium. */
const chromiumStartMs = 120_000;

async function startChromium(executablePath, onClosed) {
  const { chromium } = await import('playwright-core');
  const server = await chromium.launchServer({
    executablePath,
    headless: true,
    chromiumSandbox: false,
    args: chromiumFlags,
    timeout: chromiumStartMs,
    // The run itself stops the browser, even after an interrupt.
    ...{ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false },
  });
  server.once('close', onClosed);
  return { wsEndpoint: server.wsEndpoint(), stop: () => server.close() };
}
