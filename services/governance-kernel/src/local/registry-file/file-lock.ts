import { randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

/** The owner of a generation of the lock. `null` members are unknown on this platform. */
const Owner = z.strictObject({
  host: z.string(),
  pid: z.int().positive(),
  /** The start of the process, since process ids are reused. */
  started: z.string().nullable(),
  state: z.enum(['locked', 'released']),
});
type Owner = z.infer<typeof Owner>;

type FileLockOptions = { waitMs: number };

/** A live process had the lock and did not release it in time. */
export class LockBusy extends Error {
  override readonly name = 'LockBusy';
}

const pollMs = 15;
const generationForm = /^\d{1,15}$/;

/**
 * Acquires the lock of a folder, and resolves to the function that releases it. Throws LockBusy after `waitMs`. A
 * generation is a file whose name is a number. The owner of the lock is the process of the highest one. The next
 * generation is linked only when the highest one is released, or its process is dead. `link` fails for a name that
 * exists, so one process wins a generation. The highest generation is never removed, so no process that looked earlier
 * can begin below it: such a process sees the higher one and yields.
 */
export async function acquireFileLock(folder: string, { waitMs }: FileLockOptions): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const own: Owner = { host: hostname(), pid: process.pid, started: await startOf(process.pid), state: 'locked' };
  const endMs = performance.now() + waitMs;
  for (;;) {
    const highest = await highestIn(folder);
    const owner = highest === 0 ? null : await ownerOf(join(folder, String(highest)));
    if (owner === null || !(await isHeld(owner))) {
      const generation = highest + 1;
      if (await claim(folder, generation, own)) {
        await removeBelow(folder, generation);
        return () => put(folder, generation, { ...own, state: 'released' });
      }
    } else if (performance.now() >= endMs) throw busy(folder, owner);
    await delay(pollMs);
  }
}

async function claim(folder: string, generation: number, own: Owner): Promise<boolean> {
  const path = join(folder, String(generation));
  const temporary = await written(folder, own);
  try {
    await link(temporary, path);
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await unlink(temporary);
  }
  if ((await highestIn(folder)) === generation) return true;
  await rm(path, { force: true });
  return false;
}

async function put(folder: string, generation: number, owner: Owner): Promise<void> {
  await rename(await written(folder, owner), join(folder, String(generation)));
}

async function written(folder: string, owner: Owner): Promise<string> {
  const temporary = join(folder, `new-${randomUUID()}`);
  await writeFile(temporary, JSON.stringify(owner), { mode: 0o600, flag: 'wx' });
  return temporary;
}

async function highestIn(folder: string): Promise<number> {
  const names = await readdir(folder);
  return Math.max(0, ...names.filter((name) => generationForm.test(name)).map(Number));
}

/** Removes lower generations. Called by the owner only. */
async function removeBelow(folder: string, generation: number): Promise<void> {
  const names = await readdir(folder);
  const below = names.filter((name) => generationForm.test(name) && Number(name) < generation);
  await Promise.all(below.map((name) => rm(join(folder, name), { force: true })));
}

/** `null` for a generation that was just removed, since a higher one exists. */
async function ownerOf(path: string): Promise<Owner | null> {
  try {
    return Owner.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null;
    throw new Error(`The lock file ${path} is damaged. Remove it when no command uses the files beside it.`, {
      cause: error,
    });
  }
}

/** A process on another host cannot be checked from here, so its lock stays. */
async function isHeld({ host, pid, started, state }: Owner): Promise<boolean> {
  if (state === 'released') return false;
  if (host !== hostname()) return true;
  if (!isAlive(pid)) return false;
  const startedNow = await startOf(pid);
  return started === null || startedNow === null || started === startedNow;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !isCode(error, 'ESRCH');
  }
}

/**
 * The boot and the clock tick at which a process started. `null` where the platform does not provide them. For a
 * zombie, the text is `ended`, so its lock counts as released.
 */
async function startOf(pid: number): Promise<string | null> {
  try {
    const [boot, stat] = await Promise.all([
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
      readFile(`/proc/${pid}/stat`, 'utf8'),
    ]);
    // The name of the program is in parentheses and may contain spaces. The state follows it, and the start is the
    // 20th field.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? 'ended' : `${boot.trim()} ${fields[19]}`;
  } catch {
    return null;
  }
}

function busy(folder: string, { host, pid }: Owner): LockBusy {
  return new LockBusy(
    `The process ${pid} on ${host} holds the lock ${folder}. Wait for it, or end it. ` +
      `Remove ${folder} only when that process no longer runs.`,
  );
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
