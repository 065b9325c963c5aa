import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { Instrumenter } from '@stryker-mutator/instrumenter';
import { roomOf } from './rooms.mjs';
import { strykerPlugins } from './for-people.mjs';

const silent = { isDebugEnabled: () => false, debug() {}, info() {}, warn() {} };

/**
 * A mutant's key: the replaced text, its replacement and its place. Lines and columns count from 0. Keys are unique
 * within one state of the sources.
 */
export function keyOf({ fileName, location: { start, end }, mutatorName, replacement }) {
  const place = `${start.line}:${start.column}-${end.line}:${end.column}`;
  return `${relative(process.cwd(), fileName).split(sep).join('/')}@${place} ${mutatorName}: ${replacement}`;
}

/** All mutants of these files, ignored ones included. `files` are paths from the working directory. */
export async function listMutants(files) {
  const sources = files.map((file) => {
    const name = join(process.cwd(), file);
    return { name, mutate: true, content: readFileSync(name, 'utf8') };
  });
  const options = { plugins: null, excludedMutations: [], ignorers: strykerPlugins.map(({ value }) => value) };
  const { mutants } = await new Instrumenter(silent).instrument(sources, options);
  const contents = new Map(sources.map(({ name, content }) => [name, content.split('\n')]));
  const hashes = new Map(sources.map(({ name, content }) => [name, hashOfText(content)]));
  return mutants.map((mutant) => {
    const file = relative(process.cwd(), mutant.fileName).split(sep).join('/');
    const lines = contents.get(mutant.fileName);
    return {
      key: keyOf(mutant),
      room: roomOf(file),
      file,
      line: mutant.location.start.line + 1,
      lineText: lines[mutant.location.start.line].trim(),
      mutator: mutant.mutatorName,
      from: textAt(lines, mutant.location),
      to: oneLine(mutant.replacement),
      sourceHash: hashes.get(mutant.fileName),
      isIgnored: mutant.status === 'Ignored',
    };
  });
}

function hashOfText(text) {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

function textAt(lines, { start, end }) {
  const taken = lines.slice(start.line, end.line + 1);
  taken[taken.length - 1] = taken.at(-1).slice(0, end.column);
  taken[0] = taken[0].slice(start.column);
  return oneLine(taken.join('\n'));
}

function oneLine(text) {
  return text.replace(/\s+/g, ' ').trim();
}
