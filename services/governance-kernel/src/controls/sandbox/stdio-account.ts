import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** The operating system account of MCP servers over stdio. */
export type StdioAccount = { readonly uid: number; readonly gid: number };

/** The account `nobody`, which owns no files. */
const nobody: StdioAccount = { uid: 65_534, gid: 65_534 };

/**
 * The account `user` (`uid:gid`), by default `nobody`. `null` when servers run as the kernel itself, by configuration
 * or because the host permits no other account. Throws when the configured account cannot be used.
 */
export function findStdioAccount(user: string | undefined): StdioAccount | null {
  const input = user === undefined ? null : parseAccount(user);
  const own = process.getuid?.();
  if (input?.uid === own) return null;
  const account = input ?? nobody;
  if (own === 0 && mayBecome(account)) return account;
  if (input === null) return null;
  throw new Error(
    'only a kernel that runs as root, on a host with setpriv of util-linux, can start servers as another user',
  );
}

/**
 * The account of sandboxed programs: `user`, but never root. Linux does not count processes of root, so a limit would
 * not work. `null` for the account of the kernel.
 */
export function findSandboxAccount(user: string | undefined): StdioAccount | null {
  const isRoot = user !== undefined && parseAccount(user).uid === 0;
  return findStdioAccount(isRoot ? undefined : user);
}

/** Whether the account can read the file, including all parent folders. */
export function mayRead(account: StdioAccount, file: string): boolean {
  return succeedsAs(account, ['test', '-r', file]);
}

/**
 * The command line that runs this command under the account, without the kernel's groups and capabilities, and without
 * a way to regain them. `setpriv` replaces itself by the command, so a kill reaches the command and not a wrapper.
 */
export function commandUnder(
  { uid, gid }: StdioAccount,
  { command, args }: { command: string; args: readonly string[] },
): { command: string; args: string[] } {
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--inh-caps=-all', '--no-new-privs'];
  return { command: setpriv() ?? 'setpriv', args: [...identity, '--', command, ...args] };
}

function parseAccount(user: string): StdioAccount {
  const [uid, gid] = user.split(':').map(Number);
  return { uid: uid ?? nobody.uid, gid: gid ?? nobody.gid };
}

/** Searches fixed paths only. The PATH of a child is not trusted, since it is configurable. */
function setpriv(): string | undefined {
  return ['/usr/bin/setpriv', '/bin/setpriv'].find((place) => existsSync(place));
}

const usable = new Set<string>();

/** Whether commands may run under the account. A success is remembered, since each try starts a process. */
function mayBecome(account: StdioAccount): boolean {
  const name = `${account.uid}:${account.gid}`;
  if (!usable.has(name) && succeedsAs(account, ['true'])) usable.add(name);
  return usable.has(name);
}

function succeedsAs(account: StdioAccount, [command = '', ...args]: readonly string[]): boolean {
  const launch = commandUnder(account, { command, args });
  return spawnSync(launch.command, launch.args, { cwd: '/', stdio: 'ignore' }).status === 0;
}
