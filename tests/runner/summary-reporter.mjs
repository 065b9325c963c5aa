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
    writeFileSync(file, JSON.stringify(summary));
  }
}

// Jest loads a reporter by its default export.
export default SummaryReporter;
