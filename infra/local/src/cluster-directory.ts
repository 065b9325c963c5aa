import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { postgresEnvironment } from './config.ts';
import { sharedDir } from './postgres-binaries.ts';
import { mayAccess } from './server-account.ts';
import type { ServerAccount } from './server-account.ts';

const superuser = 'postgres';
const majorVersion = '17';

export interface Cluster {
  /** PostgreSQL's own data directory. */
  dataDir: string;
  password: string;
  /** The file that names the process that started the server. See running-server.ts. */
  ownerFile: string;
}

interface ClusterOptions {
  dataDir: string;
  binDir: string;
  account: ServerAccount | undefined;
  log: (line: string) => void;
}

/**
 * Opens the cluster in `dataDir`, or creates it with a random superuser password. The password is stored beside it with
 * mode 0600.
 */
export function openCluster({ dataDir, binDir, account, log }: ClusterOptions): Cluster {
  const home = prepareHome({ dataDir: resolve(dataDir), account, log });
  const cluster = {
    dataDir: join(home, 'cluster'),
    passwordFile: join(home, 'password'),
    ownerFile: join(home, 'owner'),
  };
  if (!existsSync(cluster.dataDir)) initialise({ home, binDir, account, log });
  const version = readFileSync(join(cluster.dataDir, 'PG_VERSION'), 'utf8').trim();
  if (version !== majorVersion) {
    throw new Error(
      `${cluster.dataDir} was created by PostgreSQL ${version}, but this is PostgreSQL ${majorVersion}: move it away, or dump and restore it.`,
    );
  }
  return {
    dataDir: cluster.dataDir,
    ownerFile: cluster.ownerFile,
    password: readFileSync(cluster.passwordFile, 'utf8').trim(),
  };
}

type HomeOptions = Omit<ClusterOptions, 'binDir'>;

function prepareHome({ dataDir, account, log }: HomeOptions): string {
  if (account === undefined) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    return realpathSync(dataDir);
  }
  mkdirSync(dataDir, { recursive: true });
  const home = realpathSync(dataDir);
  giveTo(account, home);
  if (mayAccess(account, home, '-w')) return home;
  return moveWhereReachable({ dataDir, account, log });
}

// In a private folder such as /root, the account of the server cannot enter `dataDir`, and this program must not change
// the rights of that folder. The data goes to another folder, and a link replaces `dataDir`. If the link is deleted,
// the next start creates an empty cluster.
function moveWhereReachable({ dataDir, account, log }: HomeOptions & { account: ServerAccount }): string {
  if (lstatSync(dataDir).isSymbolicLink() || existsSync(join(dataDir, 'cluster'))) {
    throw new Error(`The account "postgres" can no longer enter ${dataDir}: give it access to all parent folders.`);
  }
  const home = join(sharedDir, `data-${randomBytes(6).toString('hex')}`);
  mkdirSync(home, { recursive: true, mode: 0o755 });
  chmodSync(sharedDir, 0o755);
  giveTo(account, home);
  rmdirSync(dataDir);
  symlinkSync(home, dataDir);
  log(`The account "postgres" cannot enter ${dataDir}; the data is kept in ${home}.`);
  return home;
}

function giveTo(account: ServerAccount, path: string, mode = 0o700): void {
  chownSync(path, account.uid, account.gid);
  chmodSync(path, mode);
}

// Created under another name, so that an interrupted initdb cannot be mistaken for a cluster.
function initialise({ home, binDir, account, log }: { home: string } & Omit<ClusterOptions, 'dataDir'>): void {
  const partial = join(home, 'cluster.new');
  const passwordFile = join(home, 'password');
  rmSync(partial, { recursive: true, force: true });
  writeFileSync(passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
  if (account !== undefined) giveTo(account, passwordFile, 0o600);
  log(`Creating a PostgreSQL cluster in ${home}`);
  const flags = [
    `--pgdata=${partial}`,
    `--username=${superuser}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // The builtin provider gives the same order and case rules on all computers, independent of their locales.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--data-checksums',
  ];
  execFileSync(join(binDir, 'initdb'), flags, {
    ...account,
    cwd: home,
    env: postgresEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  renameSync(partial, join(home, 'cluster'));
}
