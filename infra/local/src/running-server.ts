import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster } from './cluster-directory.ts';

const stopTimeoutMs = 20_000;
const pollMs = 50;

/**
 * Ensures that no server runs on the cluster. A server is stopped if the process that started it was killed. It throws
 * if that process is alive or unknown. A pid file that a killed server left behind is removed.
 */
export async function clearStaleServer({ dataDir, ownerFile }: Cluster, log: (line: string) => void): Promise<void> {
  const pidFile = join(dataDir, 'postmaster.pid');
  const [pidLine = '', , , port] = readText(pidFile)?.split('\n') ?? [];
  const pid = Number(pidLine);
  if (!Number.isSafeInteger(pid) || pid <= 0) return;
  if (!servesDirectory(pid, dataDir)) {
    log(`Removing the pid file of a PostgreSQL that was killed (pid ${pid})`);
    rmSync(pidFile, { force: true });
    return;
  }
  const owner = readText(ownerFile);
  if (owner === undefined || owner === describeProcess(Number(owner.split(' ')[0]))) {
    throw new Error(
      `Another PostgreSQL (pid ${pid}, port ${port}) is using ${dataDir}: stop it, or choose another data directory.`,
    );
  }
  log(`Stopping the PostgreSQL (pid ${pid}) of a process that was killed`);
  process.kill(pid, 'SIGINT');
  await waitForEnd(pid);
}

/** The URL for the superuser of the server that runs on the cluster in `home`. `null` when no server runs. */
export function embeddedUrl(home: string): string | null {
  const cluster = join(home, 'cluster');
  const [pid = '', , , port] = readText(join(cluster, 'postmaster.pid'))?.split('\n') ?? [];
  const password = readText(join(home, 'password'))?.trim();
  if (password === undefined || !existsSync(cluster) || !servesDirectory(Number(pid), cluster)) return null;
  return `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;
}

/** Records the owner, so that a later start can distinguish an orphaned server from one in use. */
export function recordOwner({ ownerFile }: Cluster): void {
  writeFileSync(ownerFile, describeProcess(process.pid) ?? '', { mode: 0o600 });
}

export function forgetOwner({ ownerFile }: Cluster): void {
  rmSync(ownerFile, { force: true });
}

// After a reboot, another process may have the pid. On Linux, the server is recognised by its working directory
// `dataDir`. On other systems, it is recognised by the argument `-D dataDir` of its command.
function servesDirectory(pid: number, dataDir: string): boolean {
  if (!isAlive(pid)) return false;
  if (process.platform !== 'linux') return columnOfPs(pid, 'command').includes(`-D ${dataDir}`);
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(dataDir);
  } catch {
    return false;
  }
}

// The pid and the start time of a process. The start time shows whether another process has the pid now.
export function describeProcess(pid: number): string | undefined {
  return isAlive(pid) ? `${pid} ${startTimeOf(pid)}` : undefined;
}

function startTimeOf(pid: number): string | undefined {
  if (process.platform !== 'linux') return columnOfPs(pid, 'lstart');
  const stat = readText(`/proc/${pid}/stat`);
  // Fields are counted after the command name, which may contain spaces. The start time is the 22nd field of proc(5).
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

function columnOfPs(pid: number, column: string): string {
  return spawnSync('ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function waitForEnd(pid: number): Promise<void> {
  const deadline = Date.now() + stopTimeoutMs;
  while (isAlive(pid)) {
    if (Date.now() > deadline) throw new Error(`PostgreSQL (pid ${pid}) did not stop within ${stopTimeoutMs} ms.`);
    await delay(pollMs);
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
