import { readFileSync } from 'node:fs';
import { keyOf } from './mutants.mjs';

/** In the environment of Stryker's workers: the file with the keys of the mutants to run. */
export const sampleVariable = 'COUNTERSIGN_MUTATION_SAMPLE';
/** Stryker has one word for "not run", and it is that of its type checkers. */
export const notRun = 'CompileError';

// Of Stryker's parts only a checker may keep a mutant from being run.
export const strykerPlugins = [{ kind: 'Checker', name: 'sampled', factory: () => new SampledChecker() }];

class SampledChecker {
  #keys;

  async init() {
    this.#keys = new Set(JSON.parse(readFileSync(process.env[sampleVariable], 'utf8')));
  }

  async check(mutants) {
    return Object.fromEntries(mutants.map((mutant) => [mutant.id, this.#resultOf(mutant)]));
  }

  async group(mutants) {
    return mutants.length === 0 ? [] : [mutants.map(({ id }) => id)];
  }

  #resultOf(mutant) {
    return this.#keys.has(keyOf(mutant))
      ? { status: 'passed' }
      : { status: 'compileError', reason: 'not in the sample' };
  }
}
