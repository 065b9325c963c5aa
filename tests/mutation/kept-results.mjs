import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { hashOf } from './files.mjs';

/**
 * The results of earlier runs, one line each. Each is written at once, so an aborted run loses none. A result is valid
 * while the mutated file and the test that killed the mutant are unchanged. For a survivor all tests of its suites must
 * be unchanged.
 */
export class KeptResults {
  #file;
  #byKey;
  #hashes = new Map();

  constructor(file) {
    this.#file = file;
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').filter(Boolean) : [];
    this.#byKey = new Map(lines.map((line) => JSON.parse(line)).map((kept) => [kept.key, kept]));
  }

  /** The result of a mutant, if it is still valid. */
  find({ key, sourceHash }, testFiles) {
    const kept = this.#byKey.get(key);
    if (kept === undefined || kept.of !== sourceHash) return undefined;
    if (kept.killedBy !== undefined && !testFiles.includes(kept.killedBy)) return undefined;
    return kept.by === this.#hashOf(this.#rests(kept, testFiles)) ? kept : undefined;
  }

  record({ key, sourceHash }, { status, killedBy }, testFiles) {
    const kept = { key, status, killedBy, of: sourceHash };
    appendFileSync(this.#file, `${JSON.stringify({ ...kept, by: this.#hashOf(this.#rests(kept, testFiles)) })}\n`);
  }

  #rests({ killedBy }, testFiles) {
    return killedBy === undefined ? testFiles : [killedBy];
  }

  #hashOf(files) {
    const name = files.join('\n');
    if (!this.#hashes.has(name)) this.#hashes.set(name, hashOf(files));
    return this.#hashes.get(name);
  }
}
