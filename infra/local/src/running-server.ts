import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster } from './cluster-directory.ts';

const stopTimeoutMs = 20_000;
const pollMs = 50;

/**
 * Makes sure that no server runs on the cluster. A server whose starter was killed is stopped; one whose starter lives is not ours
 * to touch, and an error names it. A pid file that a killed server left behind is removed.
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

/** The address of the server that runs on the cluster in `home`; null when there is none. */
export function embeddedUrl(home: string): string | null {
  const cluster = join(home, 'cluster');
  const [pid = '', , , port] = readText(join(cluster, 'postmaster.pid'))?.split('\n') ?? [];
  const password = readText(join(home, 'password'))?.trim();
  if (password === undefined || !existsSync(cluster) || !servesDirectory(Number(pid), cluster)) return null;
  return `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;
}

/** Leaves the note by which a later start tells an orphan from a server in use. */
export function recordOwner({ ownerFile }: Cluster): void {
  writeFileSync(ownerFile, describeProcess(process.pid) ?? '', { mode: 0o600 });
}

export function forgetOwner({ ownerFile }: Cluster): void {
  rmSync(ownerFile, { force: true });
}

// After a reboot the number may belong to anything: the server is the process that works in this very directory.
function servesDirectory(pid: number, dataDir: string): boolean {
  if (!isAlive(pid)) return false;
  if (process.platform !== 'linux') return columnOfPs(pid, 'command').includes(`-D ${dataDir}`);
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(dataDir);
  } catch {
    return false;
  }
}

// Pid and start time, so that a reused pid is not taken for the process that had it before.
export function describeProcess(pid: number): string | undefined {
  return isAlive(pid) ? `${pid} ${startTimeOf(pid)}` : undefined;
}

function startTimeOf(pid: number): string | undefined {
  if (process.platform !== 'linux') return columnOfPs(pid, 'lstart');
  const stat = readText(`/proc/${pid}/stat`);
  // Fields are counted after the command name, which may hold spaces; the start time is the 22nd field of proc(5).
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
