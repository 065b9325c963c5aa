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

/** Readable by the person only. */
const privateMode = 0o600;
/** Longer than a renewal takes; a lock that is older was left by a command that was killed. */
const lockMsMax = 30_000;
const lockPollMs = 50;

/** `null` without a sign-in. Throws CommandFailed for a file that is no login, or that others can read. */
export async function readLogin(dir: string): Promise<Login | null> {
  const file = fileIn(dir);
  const text = await readFile(file, 'utf8').catch(unlessAbsent);
  if (text === null) return null;
  if (((await stat(file)).mode & 0o077) !== 0)
    throw new CommandFailed(`${file} can be read by others: chmod 600 it, or sign in again`, 2);
  const login = Login.safeParse(plain(text));
  if (!login.success) throw new CommandFailed(`${file} is no login: sign in again`, 2);
  return login.data;
}

/** Replaces it whole: a command that is killed leaves the one before. */
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

/** One command at a time renews a login: two uses of one refresh token are a theft. */
export async function holdingLogin<Held>(dir: string, work: () => Promise<Held>): Promise<Held> {
  const lock = `${fileIn(dir)}.lock`;
  while (!(await taken(lock))) {
    const held = await stat(lock).catch(() => null);
    if (held !== null && Date.now() - held.mtimeMs > lockMsMax) await rm(lock, { force: true });
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
    return null; // what is no JSON is no login either
  }
}
