import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { Instant, PersonRole, WorkspaceId } from '@countersign/contracts';
import { CommandFailed } from '../command-failed.ts';

const Login = z.strictObject({
  url: z.string(),
  workspace_id: WorkspaceId,
  role: PersonRole,
  access_token: z.string(),
  refresh_token: z.string(),
  expires_at: Instant,
});
/** The file that `countersign login` writes. */
export type Login = z.infer<typeof Login>;

/** Only the owner can read it. */
const privateMode = 0o600;
/** Longer than a renewal takes. An older lock is from a killed command. */
const lockMsMax = 30_000;
const lockPollMs = 50;

/** `null` when there is no login. Throws CommandFailed for an invalid file, or one that others can read. */
export async function readLogin(dir: string): Promise<Login | null> {
  const file = fileIn(dir);
  const text = await readFile(file, 'utf8').catch(unlessAbsent);
  if (text === null) return null;
  if (((await stat(file)).mode & 0o077) !== 0)
    throw new CommandFailed(`${file} can be read by others. Run chmod 600 ${file}, or sign in again`, 2);
  const login = Login.safeParse(plain(text));
  if (!login.success) throw new CommandFailed(`${file} contains no login. Sign in again: countersign login`, 2);
  return login.data;
}

/** Replaces the file atomically, so that a killed command leaves the previous login. */
export async function writeLogin(dir: string, login: Login): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const written = `${fileIn(dir)}.${randomBytes(6).toString('hex')}`;
  const file = await open(written, 'wx', privateMode);
  try {
    await file.writeFile(`${JSON.stringify(login, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(written, fileIn(dir));
}

export async function removeLogin(dir: string): Promise<void> {
  await rm(fileIn(dir), { force: true });
}

/** Only one command at a time may renew a login, because a refresh token that is used twice counts as stolen. */
export async function holdingLogin<Held>(dir: string, work: () => Promise<Held>): Promise<Held> {
  const lock = `${fileIn(dir)}.lock`;
  while (!(await taken(lock))) {
    const lockFile = await stat(lock).catch(() => null);
    if (lockFile !== null && Date.now() - lockFile.mtimeMs > lockMsMax) await rm(lock, { force: true });
    else await pause(lockPollMs);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

async function taken(lock: string): Promise<boolean> {
  try {
    await (await open(lock, 'wx', privateMode)).close();
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw cause;
  }
}

function fileIn(dir: string): string {
  return join(dir, 'login.json');
}

function unlessAbsent(cause: NodeJS.ErrnoException): null {
  if (cause.code === 'ENOENT') return null;
  throw new CommandFailed(`The login cannot be read: ${cause.message}`, 2, { cause });
}

function plain(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // a file without JSON has no login
  }
}
