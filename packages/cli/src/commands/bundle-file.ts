import { readFileSync } from 'node:fs';
import { lineOfPath, PolicyError } from '@countersign/policy';
import { CommandFailed } from '../command-failed.ts';

/** Reads a bundle with `read`. A fault is reported with its line. Throws CommandFailed. */
export function inBundle<Read>(file: string, read: (text: string) => Read): Read {
  const text = textOf(file);
  try {
    return read(text);
  } catch (cause) {
    if (!(cause instanceof PolicyError)) throw cause;
    const line = lineOfPath(text, cause.path);
    const place = line === null ? file : `${file}:${line}`;
    throw new CommandFailed(`${place}: ${cause.message} (${cause.code})`, 1, { cause });
  }
}

/** Reads a file as text. Throws CommandFailed. */
export function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new CommandFailed(`${file} cannot be read. Name an existing file`, 2, { cause });
  }
}
