import { readFileSync } from 'node:fs';
import { keyOf } from './mutants.mjs';
import { readPlan } from './plan.mjs';

/** Stryker's only status for a mutant that was not run. It comes from type checkers. */
export const notRun = 'CompileError';

// Only a checker can prevent Stryker from running a mutant.
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
