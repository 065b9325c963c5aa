import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';

export type ServiceProcess = { child: ChildProcess; kill(): Promise<void> };

/**
 * Starts a service from the build as a separate process that a test can kill. `env` is its whole configuration. Its
 * standard output is appended to `logFile`, or discarded.
 */
export function spawnService(
  main: string,
  env: Record<string, string>,
  { logFile }: { logFile?: string } = {},
): ServiceProcess {
  const log = logFile === undefined ? null : openSync(logFile, 'a');
  const child = spawn(process.execPath, [...process.execArgv, main], {
    env,
    stdio: ['ignore', log ?? 'ignore', 'inherit'],
  });
  if (log !== null) closeSync(log);
  const kill = async () => {
    if (hasEnded(child)) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  return { child, kill };
}

export function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
