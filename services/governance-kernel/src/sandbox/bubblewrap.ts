import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SandboxLimits, SandboxTerms } from '@countersign/contracts/governance-kernel';

/** The one writable folder of a sandboxed program. It is `HOME`, `TMPDIR` and the first working folder. */
export const dataFolder = '/data';

/** Outside of every path that a grant may name, so that no preopen hides it. */
export const egressSocketInside = '/.countersign/egress.sock';

/** Programs and libraries, and the certificates that every TLS client needs. None of them holds data of this installation. */
const readableTrees = [
  '/usr',
  '/etc/ssl',
  '/etc/ca-certificates',
  '/etc/ld.so.cache',
  '/etc/alternatives',
  '/etc/localtime',
];
const linkedTrees = ['bin', 'lib', 'lib64', 'sbin'];

/** The sandbox provides these and all below them itself. A preopen there would replace a part of it. */
const ownTrees = [dataFolder, '/.countersign', '/proc', '/dev', ...linkedTrees.map((name) => `/${name}`)];
/** A preopen may lie below these. One of them as a whole would hide what the sandbox needs there. */
const sharedTrees = ['/tmp', '/usr', '/etc'];

export type Launch = { command: string; args: string[] };

type BubblewrapParts = {
  /** The path of bubblewrap. */
  bwrap: string;
  /** The socket of the egress proxy. `null` when the grant names no destinations. */
  egressSocket: string | null;
};

/** Why a path cannot be a preopen. `null` when it can. */
export function unusablePreopen(path: string): string | null {
  const own = ownTrees.find((tree) => path === tree || path.startsWith(`${tree}/`));
  const hidden = own ?? sharedTrees.find((tree) => path === tree);
  return hidden === undefined ? null : `${path} is or lies in ${hidden}, which the sandbox provides itself`;
}

/**
 * The command line that runs `launch` with process, network, mount, IPC and user namespaces of its own. It ends with the kernel, and all of its
 * processes end with it. Every mount but the data folder and `rw` preopens is read-only, and the data folder is bounded.
 */
export function underBubblewrap(
  { bwrap, egressSocket }: BubblewrapParts,
  { terms: { preopens, limits }, launch, cwd }: { terms: SandboxTerms; launch: Launch; cwd: string | undefined },
): Launch {
  const bounded = ['--size', String(limits.data_bytes), '--tmpfs'];
  const mounts = [
    ...readableTrees.flatMap((tree) => ['--ro-bind-try', tree, tree]),
    ...linkedTrees.flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ...nodeFolder(),
    ...['--proc', '/proc', '--dev', '/dev', '--size', '65536', '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ...[...bounded, dataFolder, ...bounded, '/tmp'],
    ...preopens.flatMap(({ path, mode }) => [mode === 'ro' ? '--ro-bind' : '--bind', path, path]),
    ...(egressSocket === null ? [] : ['--bind', egressSocket, egressSocketInside]),
    ...['--remount-ro', '/'],
  ];
  return {
    command: bwrap,
    args: [
      ...['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session'],
      ...['--hostname', 'sandbox', ...mounts, '--chdir', cwd ?? dataFolder, '--'],
      ...limited(limits, launch),
    ],
  };
}

/** Limits are set inside, where processes are counted per sandbox and not per account. */
function limited(limits: SandboxLimits, { command, args }: Launch): string[] {
  return [
    ...[prlimit() ?? 'prlimit', `--data=${limits.memory_bytes}`, `--nproc=${limits.processes}`],
    ...[
      `--cpu=${limits.cpu_seconds}`,
      `--nofile=${limits.open_files}`,
      `--fsize=${limits.file_bytes}`,
      '--core=0',
      '--',
    ],
    ...[command, ...args],
  ];
}

/** Node itself, where it is installed outside of `/usr`. */
function nodeFolder(): string[] {
  const prefix = dirname(dirname(process.execPath));
  return prefix === '/' || prefix.startsWith('/usr') ? [] : ['--ro-bind', prefix, prefix];
}

export function findBubblewrap(configured: string | null): string | null {
  if (configured !== null) return existsSync(configured) ? configured : null;
  return ['/usr/bin/bwrap', '/usr/local/bin/bwrap'].find((place) => existsSync(place)) ?? null;
}

/** Found by its place: the PATH of a child is chosen by its operator. */
export function prlimit(): string | undefined {
  return ['/usr/bin/prlimit', '/bin/prlimit'].find((place) => existsSync(place));
}
