import { lchownSync, lstatSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { serverScript } from './mcp-servers.ts';
import { mayAccess, type ServerAccount } from './server-account.ts';

/** The kernel's own default for MCP servers over stdio. */
const nobody: ServerAccount = { uid: 65_534, gid: 65_534 };
/** Said to the kernel, it means: as the kernel itself. */
const root = '0:0';

/**
 * The account of MCP servers over stdio, for GOV_MCP_STDIO_USER; undefined: the kernel's default. For root it is
 * another account, which owns the shipped server's folder. If it cannot reach the files of that server, as in a
 * checkout below /root, they run as root and the kernel warns. A first start without files would be useless.
 */
export function stdioUser(folder: string, given: string | undefined): string | undefined {
  if (process.getuid?.() !== 0 || given === root) return given;
  const account = given === undefined ? nobody : accountOf(given);
  if (account === null) return given;
  if (!reachesFiles(account, folder)) return given ?? root;
  give(folder, account);
  return given;
}

/** Null: malformed, and the kernel says so. */
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

/** With all that an earlier start left in it under another account. Links are given away themselves, never what they lead to. */
function give(folder: string, { uid, gid }: ServerAccount): void {
  if (lstatSync(folder).uid === uid) return;
  for (const name of readdirSync(folder, { recursive: true })) lchownSync(join(folder, String(name)), uid, gid);
  lchownSync(folder, uid, gid);
}
