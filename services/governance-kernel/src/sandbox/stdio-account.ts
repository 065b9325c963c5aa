import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** The account of the operating system that MCP servers over stdio run as. */
export type StdioAccount = { readonly uid: number; readonly gid: number };

/** The account that every Unix reserves for a user without files. */
const nobody: StdioAccount = { uid: 65_534, gid: 65_534 };

/**
 * The account of `user` (`uid:gid`), by default the one without files. `null` where they run as the kernel itself, by
 * configuration or because the host allows nothing else. Throws when another account was asked for and cannot be had.
 */
export function findStdioAccount(user: string | undefined): StdioAccount | null {
  const asked = user === undefined ? null : parseAccount(user);
  const own = process.getuid?.();
  if (asked?.uid === own) return null;
  const account = asked ?? nobody;
  if (own === 0 && succeedsAs(account, ['true'])) return account;
  if (asked === null) return null;
  throw new Error(
    'only a kernel that runs as root, on a host with setpriv of util-linux, can start servers as another user',
  );
}

/**
 * The account of sandboxed programs: the one that `user` names, but never root. Linux counts no processes of root, so that a limit would not hold.
 * `null`: that of the kernel.
 */
export function findSandboxAccount(user: string | undefined): StdioAccount | null {
  const isRoot = user !== undefined && parseAccount(user).uid === 0;
  return findStdioAccount(isRoot ? undefined : user);
}

/** Whether the account may read the file, all parents included. */
export function mayRead(account: StdioAccount, file: string): boolean {
  return succeedsAs(account, ['test', '-r', file]);
}

/**
 * The command line that becomes this command under the account: without our groups and capabilities, and with nothing to regain them.
 * A program in between would be killed in its child's place, so it is replaced by the command.
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

/** Found by its place: the PATH of a child is its operator's to choose. */
function setpriv(): string | undefined {
  return ['/usr/bin/setpriv', '/bin/setpriv'].find((place) => existsSync(place));
}

function succeedsAs(account: StdioAccount, [command = '', ...args]: readonly string[]): boolean {
  const launch = commandUnder(account, { command, args });
  return spawnSync(launch.command, launch.args, { cwd: '/', stdio: 'ignore' }).status === 0;
}
