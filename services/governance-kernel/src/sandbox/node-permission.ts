import { basename } from 'node:path';
import type { SandboxTerms } from '@countersign/contracts/governance-kernel';
import type { Launch } from './bubblewrap.ts';

const flag = Number(process.versions.node.split('.')[0]) >= 23 ? '--permission' : '--experimental-permission';

/** Whether the command is a script of Node, which alone the permission model holds. */
function isNodeScript({ command, args: [script = ''] }: Launch): boolean {
  return /^node(\.exe)?$/.test(basename(command)) && script.startsWith('/');
}

/**
 * The command line that runs a script of Node under its permission model: files outside of preopens and the home folder, further processes,
 * worker threads and native modules are refused. Network, memory and processor time are not held.
 */
export function underNodePermission(terms: SandboxTerms, { launch, home }: { launch: Launch; home: string }): Launch {
  if (!isNodeScript(launch))
    throw new Error('The sandbox profile node-permission starts scripts of Node with a whole path alone');
  const [script = '', ...rest] = launch.args;
  const readable = [script, home, ...terms.preopens.map(({ path }) => path)];
  const writable = [home, ...terms.preopens.filter(({ mode }) => mode === 'rw').map(({ path }) => path)];
  return {
    command: launch.command,
    args: [
      flag,
      ...readable.flatMap((path) => [`--allow-fs-read=${path}`, `--allow-fs-read=${path}/*`]),
      ...writable.flatMap((path) => [`--allow-fs-write=${path}`, `--allow-fs-write=${path}/*`]),
      ...[script, ...rest],
    ],
  };
}
