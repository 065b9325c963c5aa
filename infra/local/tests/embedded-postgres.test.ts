import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '@countersign/database';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startEmbeddedPostgres } from '../src/embedded-postgres.ts';
import type { EmbeddedPostgres } from '../src/embedded-postgres.ts';
import { embeddedUrl } from '../src/running-server.ts';

let home: string;
let running: EmbeddedPostgres[];

beforeEach(async () => {
  // mkdtemp creates the folder with mode 0700, which the server's account cannot enter when root runs the test.
  home = await mkdtemp(join(tmpdir(), 'countersign-embedded-'));
  running = [];
});

afterEach(async () => {
  for (const server of running) await server.stop();
  // A folder that the server's account cannot enter contains only a link to the data, so the link is resolved first.
  const data = await realpath(join(home, 'data'));
  await rm(data, { recursive: true });
  await rm(home, { recursive: true, force: true });
});

async function start(): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir: join(home, 'data'), log: () => undefined });
  running.push(server);
  return server;
}

async function query(server: Pick<EmbeddedPostgres, 'adminUrl'>, sql: string): Promise<Record<string, unknown>[]> {
  const database = openDatabase({ url: server.adminUrl, schema: 'public' });
  try {
    const { rows } = await database.pool.query<Record<string, unknown>>(sql);
    return rows;
  } finally {
    await database.close();
  }
}

/** Runs the same source in another process. */
function startInOtherProcess(dataDir: string): ChildProcess {
  const [loader = '', source = ''] = ['../../../tests/runner/typescript.mjs', '../src/embedded-postgres.ts'].map(
    (path) => new URL(path, import.meta.url).href,
  );
  const script = `
    const { startEmbeddedPostgres } = await import(${JSON.stringify(source)});
    const { adminUrl } = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)}, log: console.error });
    console.log(adminUrl);`;
  const args = ['--import', loader, '--input-type=module', '--eval', script];
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('The other process has no output.');
  for await (const chunk of stdout) return String(chunk).trim();
  throw new Error('The other process ended before its server was ready.');
}

describe('embedded PostgreSQL', () => {
  it('keeps rows that were written before a stop', async () => {
    expect(embeddedUrl(join(home, 'data'))).toBeNull();
    const first = await start();
    expect(embeddedUrl(join(home, 'data'))).toBe(first.adminUrl);
    await query(first, "CREATE TABLE kept AS SELECT 'still here' AS word");
    await first.stop();
    expect(embeddedUrl(join(home, 'data'))).toBeNull();
    expect(await query(await start(), 'SELECT word FROM kept')).toEqual([{ word: 'still here' }]);
  });

  it('keeps committed rows when the server is killed', async () => {
    const first = await start();
    await query(first, 'CREATE TABLE kept AS SELECT 1 AS one');
    const [postmaster] = await query(first, "SELECT pg_read_file('postmaster.pid') AS text");
    process.kill(Number(String(postmaster?.['text']).split('\n')[0]), 'SIGKILL');
    expect(await query(await start(), 'SELECT one FROM kept')).toEqual([{ one: 1 }]);
  });

  it('replaces the server of a process that was killed', async () => {
    const starter = startInOtherProcess(join(home, 'data'));
    const adminUrl = await firstLine(starter);
    await query({ adminUrl }, 'CREATE TABLE kept AS SELECT 1 AS one');
    starter.kill('SIGKILL');
    await once(starter, 'exit');
    expect(await query(await start(), 'SELECT one FROM kept')).toEqual([{ one: 1 }]);
    await expect(query({ adminUrl }, 'SELECT 1')).rejects.toThrow(/ECONNREFUSED/);
  });

  it('refuses a directory that another running server uses', async () => {
    await start();
    await expect(start()).rejects.toThrow(/Another PostgreSQL \(pid \d+, port \d+\) is using .*cluster/);
  });

  it('requires a password, listens only on loopback, and is durable', async () => {
    const server = await start();
    const wrong = new URL(server.adminUrl);
    wrong.password = 'guess';
    await expect(query({ adminUrl: wrong.href }, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
    const [settings] = await query(
      server,
      `SELECT current_setting('listen_addresses') AS listen, current_setting('unix_socket_directories') AS sockets,
              current_setting('fsync') AS fsync, current_setting('full_page_writes') AS pages,
              current_setting('synchronous_commit') AS commit`,
    );
    expect(settings).toEqual({ listen: '127.0.0.1', sockets: '', fsync: 'on', pages: 'on', commit: 'on' });
    expect((await stat(join(home, 'data', 'password'))).mode & 0o777).toBe(0o600);
  });
});
