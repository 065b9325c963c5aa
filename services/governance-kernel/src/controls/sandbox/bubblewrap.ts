import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SandboxLimits, SandboxTerms } from '@countersign/contracts/governance-kernel';

/** The writable folder of a sandboxed program. It is `HOME`, `TMPDIR` and the first working folder. */
export const dataFolder = '/data';

/** The path of the proxy's socket in the sandbox. No preopen may be there, so none hides the socket. */
export const egressSocketInside = '/.countersign/egress.sock';

/** Trees with programs, libraries and the certificates for TLS. None of them contains data of this installation. */
const readableTrees = [
  '/usr',
  '/etc/ssl',
  '/etc/ca-certificates',
  '/etc/ld.so.cache',
  '/etc/alternatives',
  '/etc/localtime',
];
const linkedTrees = ['bin', 'lib', 'lib64', 'sbin'];

/** The sandbox provides these trees itself. A preopen there would replace a part of it. */
const ownTrees = [dataFolder, '/.countersign', '/proc', '/dev', ...linkedTrees.map((name) => `/${name}`)];
/** Trees in which a preopen may lie. A preopen of a whole tree would hide what the sandbox needs there. */
const sharedTrees = ['/tmp', '/usr', '/etc'];

export type Launch = { command: string; args: string[] };

type BubblewrapDeps = {
  /** The path of bubblewrap. */
  bwrap: string;
  /** The socket of the egress proxy. `null` when the grant names no destinations. */
  egressSocket: string | null;
};

/** The reason why a path cannot be a preopen. `null` when it can. */
export function unusablePreopen(path: string): string | null {
  const own = ownTrees.find((tree) => path === tree || path.startsWith(`${tree}/`));
  const hidden = own ?? sharedTrees.find((tree) => path === tree);
  return hidden === undefined ? null : `${path} is or lies in ${hidden}, which the sandbox provides itself`;
}

/**
 * The command line that runs `launch` with its own process, network, mount, IPC and user namespaces. It ends with the
 * kernel, together with all of its processes. Only the data folder, `/tmp`, `/dev/shm`, `rw` preopens and the proxy's
 * socket are writable. The first three are limited in size.
 */
export function underBubblewrap(
  { bwrap, egressSocket }: BubblewrapDeps,
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

/** Limits are set inside the sandbox, where processes are counted per sandbox and not per account. */
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

/** The arguments that mount the folder of Node, if Node is installed outside of `/usr`. */
function nodeFolder(): string[] {
  const prefix = dirname(dirname(process.execPath));
  return prefix === '/' || prefix.startsWith('/usr') ? [] : ['--ro-bind', prefix, prefix];
}

export function findBubblewrap(configured: string | null): string | null {
  if (configured !== null) return existsSync(configured) ? configured : null;
  return ['/usr/bin/bwrap', '/usr/local/bin/bwrap'].find((place) => existsSync(place)) ?? null;
}

/** Searches fixed paths only. The PATH of a child is not trusted, since it is configurable. */
export function prlimit(): string | undefined {
  return ['/usr/bin/prlimit', '/bin/prlimit'].find((place) => existsSync(place));
}
