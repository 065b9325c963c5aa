import { execFileSync, spawnSync } from 'node:child_process';

/** The operating-system account for PostgreSQL, which refuses to run as root. */
export interface ServerAccount {
  uid: number;
  gid: number;
}

const accountName = 'postgres';

/**
 * Undefined when this process is not root: PostgreSQL then runs as the same user. For root, the account is created when
 * missing.
 */
export function serverAccount(): ServerAccount | undefined {
  if (process.getuid?.() !== 0) return undefined;
  return findAccount() ?? createAccount();
}

/** True when the server's account can read (`-r`), write (`-w`), or execute or enter (`-x`) the path. */
export function mayAccess(account: ServerAccount, path: string, right: '-r' | '-w' | '-x'): boolean {
  return spawnSync('test', [right, path], { ...account, cwd: '/' }).status === 0;
}

function findAccount(): ServerAccount | undefined {
  const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, accountName], { encoding: 'utf8' }));
  if (uid?.status !== 0 || gid?.status !== 0) return undefined;
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

function createAccount(): ServerAccount {
  try {
    execFileSync('useradd', [
      '--system',
      '--user-group',
      '--no-create-home',
      '--shell',
      '/usr/sbin/nologin',
      accountName,
    ]);
  } catch (cause) {
    throw new Error(
      'PostgreSQL does not run as root and the account "postgres" could not be created: run as an ordinary user, create that account, or set DATABASE_URL.',
      { cause },
    );
  }
  const account = findAccount();
  if (account === undefined) throw new Error('The account "postgres" was created but is not visible.');
  return account;
}
