import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { strykerPlugins as jestPlugins, strykerValidationSchema } from '@stryker-mutator/jest-runner';

// Lets Stryker know the options of the runner inside.
export { strykerValidationSchema };

/** In the environment of Stryker's workers: where the durations of the test files are kept for the next worker. */
export const durationsVariable = 'COUNTERSIGN_MUTATION_DURATIONS';
/** In the environment of Stryker's workers: the test files to run, as JSON. */
export const testFilesVariable = 'COUNTERSIGN_MUTATION_TESTS';

/**
 * Stryker's runner for Jest, one test file at a time. Alone it runs every file for each mutant, to the end; this one runs the files that
 * reach the mutant and stops at the first that fails. To Stryker a test is a file: what hooks start counts as reached, too.
 */
export const strykerPlugins = [{ kind: 'TestRunner', name: 'file-by-file', factory: fileByFileFactory }];

fileByFileFactory.inject = ['$injector'];
function fileByFileFactory(injector) {
  return new FileByFileRunner(jestPlugins[0].factory(injector));
}

class FileByFileRunner {
  #jest;

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
    const tests = [];
    const perTest = {};
    for (const file of JSON.parse(process.env[testFilesVariable])) {
      const { result, durationMs } = await this.#dryRunOf(file, options);
      if (result.status !== 'complete') return result;
      const failed = result.tests.find(({ status }) => status === 1);
      const failure = failed && { failureMessage: `${failed.name}: ${failed.failureMessage}` };
      tests.push({ id: file, name: file, fileName: join(process.cwd(), file), timeSpentMs: durationMs, status: failed ? 1 : 0, ...failure });
      perTest[file] = reachedBy(result.mutantCoverage);
      process.stdout.write(`${tests.length} ${(durationMs / 1000).toFixed(1)} s ${file}\n`);
    }
    const durations = Object.fromEntries(tests.map(({ id, timeSpentMs }) => [id, timeSpentMs]));
    writeFileSync(process.env[durationsVariable], JSON.stringify({ durations, kills: {} }));
    return { status: 'complete', tests, mutantCoverage: { static: {}, perTest } };
  }

  /** A busy machine may fail a file once; one that fails twice without a mutant stops the run. */
  async #dryRunOf(file, options) {
    const first = await this.#timed(file, () => this.#jest.dryRun(options));
    const isGreen = first.result.status === 'complete' && first.result.tests.every(({ status }) => status !== 1);
    return isGreen ? first : this.#timed(file, () => this.#jest.dryRun(options));
  }

  async mutantRun(options) {
    const known = JSON.parse(readFileSync(process.env[durationsVariable], 'utf8'));
    let nrOfTests = 0;
    for (const file of inOrder(options.testFilter, known)) {
      nrOfTests += 1;
      // One failure may be the machine's. The mutant's comes again.
      const isSeen = async () => (await this.#mutantRunOf(file, options)).status !== 'survived';
      const result = await this.#mutantRunOf(file, options);
      if (result.status === 'survived' || (result.status === 'killed' && !(await isSeen()))) continue;
      known.kills[file] = (known.kills[file] ?? 0) + 1;
      writeFileSync(process.env[durationsVariable], JSON.stringify(known));
      return { ...result, nrOfTests };
    }
    return { status: 'survived', nrOfTests };
  }

  async #mutantRunOf(file, options) {
    const { result } = await this.#timed(file, () => this.#jest.mutantRun({ ...options, testFilter: undefined }));
    switch (result.status) {
      case 'killed':
        return { ...result, killedBy: [file] };
      // A file that cannot even be loaded fails.
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

  async dispose() {
    await this.#jest.dispose?.();
  }
}

/** What one file reached; the counters start anew for the next one. */
function reachedBy(coverage) {
  if (coverage === undefined) return {};
  const reached = { ...coverage.static };
  for (const counts of Object.values(coverage.perTest))
    for (const [id, hits] of Object.entries(counts)) reached[id] = (reached[id] ?? 0) + hits;
  coverage.static = {};
  coverage.perTest = {};
  return reached;
}

/** What kills most for its time comes first; at the beginning that is the shortest. */
function inOrder(files, { durations, kills }) {
  const worth = (file) => (1 + (kills[file] ?? 0)) / durations[file];
  return [...files].sort((a, b) => worth(b) - worth(a));
}
