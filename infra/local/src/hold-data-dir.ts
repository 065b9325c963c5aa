import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivate } from './data-dir.ts';
import { LocalProblem } from './local-problem.ts';
import { describeProcess } from './running-server.ts';

/**
 * Marks a data directory as used by this process until `release`. Throws LocalProblem while another process holds it; the mark of
 * a process that was killed does not count.
 */
export function holdDataDir(path: string): { release(): void } {
  const holder = holderOf(path);
  if (holder !== null) {
    throw new LocalProblem(
      `Countersign already runs on ${path} (pid ${holder}).`,
      'Use that one, stop it with Ctrl-C, or start another: GOV_DATA_DIR=.countersign-2 GATEWAY_PORT=3101 CONSOLE_PORT=3001 CONTROL_PLANE_PORT=3201 GOV_PORT=8082 GOV_HEALTH_PORT=8083 make up',
    );
  }
  const file = fileOf(path);
  writePrivate(file, describeProcess(process.pid) ?? '');
  return { release: () => rmSync(file, { force: true }) };
}

/** The process that holds the directory; null: none does, or it was killed. */
export function holderOf(path: string): number | null {
  const holder = readHolder(fileOf(path));
  const pid = Number(holder?.split(' ')[0]);
  return holder !== null && holder === describeProcess(pid) ? pid : null;
}

const fileOf = (path: string) => join(path, 'holder');

function readHolder(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
