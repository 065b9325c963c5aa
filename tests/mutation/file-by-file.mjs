import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { strykerPlugins as jestPlugins, strykerValidationSchema } from '@stryker-mutator/jest-runner';
import { hashOf } from './files.mjs';
import { readPlan } from './plan.mjs';

// Stryker reads the options of the inner runner from this export.
export { strykerValidationSchema };

/**
 * Stryker's runner for Jest, one test file at a time. Stryker's own runner runs every file for each mutant, to the end.
 * This one runs the files that reach the mutant and stops at the first that fails. It reports each file to Stryker as
 * one test, so code that hooks run counts as reached too.
 */
export const strykerPlugins = [{ kind: 'TestRunner', name: 'file-by-file', factory: fileByFileFactory }];

fileByFileFactory.inject = ['$injector'];
function fileByFileFactory(injector) {
  return new FileByFileRunner(jestPlugins[0].factory(injector));
}

const failed = 1;
const passed = 0;

class FileByFileRunner {
  #jest;
  #plan = readPlan();

  constructor(jest) {
    this.#jest = jest;
  }

  capabilities() {
    return this.#jest.capabilities();
  }

  init() {
    return this.#jest.init();
  }

  async dryRun(options) {
    const existing = { durations: {}, kills: {}, asked: {}, leftOut: [] };
    const perTest = {};
    for (const file of this.#plan.testFiles) {
      const { reached, durationMs, green, red, failure } = await this.#reachedBy(file, options);
      if (failure !== undefined) return { status: 'error', errorMessage: `${file}: ${failure}` };
      perTest[file] = reached;
      existing.durations[file] = durationMs;
      if (red.length > 0) existing.asked[file] = green;
      existing.leftOut.push(...red.map((name) => `${file}: ${name}`));
    }
    writeFileSync(this.#plan.testsFile, JSON.stringify(existing));
    const tests = Object.entries(existing.durations).map(([file, durationMs]) => testOf(file, durationMs));
    return { status: 'complete', tests, mutantCoverage: { static: {}, perTest } };
  }

  async mutantRun(options) {
    const existing = JSON.parse(readFileSync(this.#plan.testsFile, 'utf8'));
    let nrOfTests = 0;
    for (const file of inOrder(options.testFilter, existing)) {
      nrOfTests += 1;
      const run = () => this.#mutantRunOf(file, { ...options, testFilter: existing.asked[file] });
      const result = await run();
      // A busy machine may cause one failure. A failure that the mutant causes comes again.
      if (result.status === 'survived' || (result.status === 'killed' && (await run()).status === 'survived')) continue;
      existing.kills[file] = (existing.kills[file] ?? 0) + 1;
      writeFileSync(this.#plan.testsFile, JSON.stringify(existing));
      return { ...result, nrOfTests };
    }
    return { status: 'survived', nrOfTests };
  }

  async dispose() {
    await this.#jest.dispose?.();
  }

  /** The mutants that a file reaches, from an earlier run if none of the file's dependencies changed since. */
  async #reachedBy(file, options) {
    const keptIn = join(this.#plan.reachedFolder, `${hashOf([file])}-${this.#plan.world}.json`);
    if (existsSync(keptIn)) return JSON.parse(readFileSync(keptIn, 'utf8'));
    const first = await this.#dryRunOf(file, options);
    if (first.failure === undefined && first.red.length === 0) return keep(first, keptIn);
    // The test file runs once more, because tests of time can fail on a busy machine. Tests that fail again are left
    // out.
    const again = await this.#dryRunOf(file, options);
    return again.failure === undefined && again.green.length > 0 ? keep(again, keptIn) : again;
  }

  async #dryRunOf(file, options) {
    const { result, durationMs } = await this.#timed(file, () => this.#jest.dryRun(options));
    if (result.status !== 'complete') return { failure: result.errorMessage ?? result.status };
    const names = (wanted) => result.tests.filter(({ status }) => status === wanted).map(({ name }) => name);
    const reached = takeReached(result.mutantCoverage);
    return { reached, durationMs, green: names(passed), red: names(failed) };
  }

  async #mutantRunOf(file, options) {
    const { result } = await this.#timed(file, () => this.#jest.mutantRun(options));
    switch (result.status) {
      case 'killed':
        return { ...result, killedBy: [file] };
      // A file that fails to load counts as failed.
      case 'error':
        return { status: 'killed', failureMessage: result.errorMessage, killedBy: [file] };
      default:
        return result;
    }
  }

  async #timed(file, run) {
    this.#jest.jestConfig.testMatch = [join(process.cwd(), file)];
    const startedAt = performance.now();
    const result = await run();
    return { result, durationMs: Math.ceil(performance.now() - startedAt) };
  }
}

function keep(result, file) {
  writeFileSync(file, JSON.stringify(result));
  return result;
}

function testOf(file, durationMs) {
  const fileName = join(process.cwd(), file);
  return { id: file, name: file, fileName, timeSpentMs: durationMs, status: passed };
}

/** Returns how often one file reached each mutant, and resets the counters for the next file. */
function takeReached(coverage) {
  if (coverage === undefined) return {};
  const reached = { ...coverage.static };
  for (const counts of Object.values(coverage.perTest))
    for (const [id, hits] of Object.entries(counts)) reached[id] = (reached[id] ?? 0) + hits;
  coverage.static = {};
  coverage.perTest = {};
  return reached;
}

/** Files with the most kills for their time come first. Before the first kill these are the shortest files. */
function inOrder(files, { durations, kills }) {
  const worth = (file) => (1 + (kills[file] ?? 0)) / durations[file];
  return [...files].sort((a, b) => worth(b) - worth(a));
}
