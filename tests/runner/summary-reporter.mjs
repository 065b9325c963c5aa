import { writeFileSync } from 'node:fs';

/** Hands the sums over all suites to run-tests.mjs, which prints them when everything it started has ended. */
export class SummaryReporter {
  onRunComplete(_contexts, results) {
    const file = process.env.COUNTERSIGN_TEST_SUMMARY;
    if (file === undefined) return;
    const summary = {
      passed: results.numPassedTests,
      // A suite that could not even be loaded ran none of its tests: it counts as one failure, never as none.
      failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
      skipped: results.numPendingTests + results.numTodoTests,
    };
    writeFileSync(file, JSON.stringify({ ...summary, promises: promisesSeen(results) }));
  }
}

/** Of each promise that a test proves by its title (`… [kn.budget]`): whether all of its tests passed. */
function promisesSeen(results) {
  const seen = {};
  for (const { title, status } of results.testResults.flatMap(({ testResults }) => testResults)) {
    const [, id] = /\[([a-z]+(?:\.[a-z0-9]+)+)\]$/.exec(title) ?? [];
    if (id === undefined || status === 'pending') continue;
    if (status !== 'passed') seen[id] = 'failed';
    else seen[id] ??= 'passed';
  }
  return seen;
}

// Jest loads a reporter by its default export.
export default SummaryReporter;
