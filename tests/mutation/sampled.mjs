import { readFileSync } from 'node:fs';
import { keyOf } from './mutants.mjs';
import { readPlan } from './plan.mjs';

/** Stryker has one word for "not run", and it is that of its type checkers. */
export const notRun = 'CompileError';

// The only part of Stryker that may keep a mutant from being run is a checker.
export const strykerPlugins = [{ kind: 'Checker', name: 'sampled', factory: () => new SampledChecker() }];

class SampledChecker {
  #keys;

  async init() {
    this.#keys = new Set(JSON.parse(readFileSync(readPlan().sampleFile, 'utf8')));
  }

  async check(mutants) {
    return Object.fromEntries(mutants.map((mutant) => [mutant.id, this.#resultOf(mutant)]));
  }

  async group(mutants) {
    return mutants.length === 0 ? [] : [mutants.map(({ id }) => id)];
  }

  #resultOf(mutant) {
    const isSampled = this.#keys.has(keyOf(mutant));
    return isSampled ? { status: 'passed' } : { status: 'compileError', reason: 'not in the sample' };
  }
}
