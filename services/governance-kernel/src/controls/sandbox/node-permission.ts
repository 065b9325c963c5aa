import { basename } from 'node:path';
import type { SandboxTerms } from '@countersign/contracts/governance-kernel';
import type { Launch } from './bubblewrap.ts';

const flag = Number(process.versions.node.split('.')[0]) >= 23 ? '--permission' : '--experimental-permission';

/** Whether the command is a Node script, since the permission model only applies to these. */
function isNodeScript({ command, args: [script = ''] }: Launch): boolean {
  return /^node(\.exe)?$/.test(basename(command)) && script.startsWith('/');
}

/**
 * The command line that runs a Node script under the permission model: files outside of preopens and the home folder,
 * further processes, worker threads and native modules are refused. Network, memory and processor time are not
 * limited.
 */
export function underNodePermission(terms: SandboxTerms, { launch, home }: { launch: Launch; home: string }): Launch {
  if (!isNodeScript(launch))
    throw new Error('The sandbox profile node-permission starts only Node scripts with an absolute path');
  const [script = '', ...rest] = launch.args;
  // The path of a folder covers its content. Node 20 fails to start if a pattern such as `folder/*` is added.
  const readable = [script, home, ...terms.preopens.map(({ path }) => path)];
  const writable = [home, ...terms.preopens.filter(({ mode }) => mode === 'rw').map(({ path }) => path)];
  return {
    command: launch.command,
    args: [
      flag,
      ...readable.map((path) => `--allow-fs-read=${path}`),
      ...writable.map((path) => `--allow-fs-write=${path}`),
      ...[script, ...rest],
    ],
  };
}
