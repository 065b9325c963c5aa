import { lchownSync, lstatSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { serverScript } from './mcp-servers.ts';
import { mayAccess, type ServerAccount } from './server-account.ts';

/** The account that the kernel uses by default for MCP servers over stdio. */
const nobody: ServerAccount = { uid: 65_534, gid: 65_534 };
/** With this value, the kernel runs the servers under its own account. */
const root = '0:0';

/**
 * The account of MCP servers over stdio, for GOV_MCP_STDIO_USER. Undefined means the kernel's default. When root runs
 * this, an account other than root becomes the owner of the shipped server's folder. It must be able to reach the
 * server's files. If the default account cannot, as in a checkout below /root, this returns root, and the kernel warns.
 */
export function stdioUser(folder: string, input: string | undefined): string | undefined {
  if (process.getuid?.() !== 0 || input === root) return input;
  const account = input === undefined ? nobody : accountOf(input);
  if (account === null) return input;
  if (!reachesFiles(account, folder)) return input ?? root;
  give(folder, account);
  return input;
}

/** `null` for a malformed value, which the kernel reports. */
function accountOf(user: string): ServerAccount | null {
  const [, uid, gid] = /^(\d{1,9}):(\d{1,9})$/.exec(user) ?? [];
  return uid === undefined || gid === undefined ? null : { uid: Number(uid), gid: Number(gid) };
}

function reachesFiles(account: ServerAccount, folder: string): boolean {
  return (
    mayAccess(account, process.execPath, '-x') &&
    mayAccess(account, serverScript(), '-r') &&
    mayAccess(account, dirname(folder), '-x')
  );
}

/**
 * Gives the account a folder and everything in it, unless the account already owns the folder. Links themselves get the
 * new owner, and their targets do not.
 */
function give(folder: string, { uid, gid }: ServerAccount): void {
  if (lstatSync(folder).uid === uid) return;
  for (const name of readdirSync(folder, { recursive: true })) lchownSync(join(folder, String(name)), uid, gid);
  lchownSync(folder, uid, gid);
}
