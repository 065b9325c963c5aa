import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describeVariables } from '@countersign/service-kit';
import { localVariables, portVariables } from './config.ts';
import { writePrivate } from './data-dir.ts';
import { LocalProblem } from './local-problem.ts';
import { describeProcess } from './running-server.ts';

/** Suggested ports are this much above the defaults, so that they differ from the health ports too. */
const portsApart = 10;

/**
 * Marks a data directory as used by this process until `release`. Throws LocalProblem while another running process
 * uses it.
 */
export function holdDataDir(path: string): { release(): void } {
  const holder = holderOf(path);
  if (holder !== null) {
    throw new LocalProblem(
      `Countersign already runs on ${path} (pid ${holder}).`,
      `Use that one, stop it with Ctrl-C, or start another: GOV_DATA_DIR=.countersign-2 ${otherPorts()} make up`,
    );
  }
  const file = fileOf(path);
  writePrivate(file, describeProcess(process.pid) ?? '');
  return { release: () => rmSync(file, { force: true }) };
}

/** Suggested ports that differ from the defaults. */
function otherPorts(): string {
  const ports = describeVariables(localVariables).filter(({ name }) => portVariables.some((each) => each === name));
  return ports.map(({ name, fallback }) => `${name}=${Number(fallback) + portsApart}`).join(' ');
}

/** The process that uses the directory. `null` when there is none, or when it ended without a release. */
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
