import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

/** Passes the result of each file to run-tests.mjs, which prints the sum after everything that it started has ended. */
export class SummaryReporter {
  onRunComplete(_contexts, { testResults }) {
    const file = process.env.COUNTERSIGN_TEST_SUMMARY;
    if (file !== undefined) writeFileSync(file, JSON.stringify(testResults.map(fileResult)));
  }
}

function fileResult({ testFilePath, testResults, failureMessage, testExecError, perfStats }) {
  const failures = testResults
    .filter(({ status }) => status === 'failed')
    .map(({ fullName, failureMessages }) => ({ title: fullName, message: failureMessages.join('\n') }));
  // A file that failed to load ran no test. It counts as one failure.
  if (failures.length === 0 && (testExecError || failureMessage))
    failures.push({ title: 'the file itself', message: failureMessage ?? String(testExecError) });
  return {
    file: relative(process.cwd(), testFilePath),
    seconds: (perfStats.end - perfStats.start) / 1_000,
    passed: testResults.filter(({ status }) => status === 'passed').length,
    skipped: testResults.filter(({ status }) => ['pending', 'todo', 'skipped'].includes(status)).length,
    promises: promisesSeen(testResults),
    failures,
  };
}

/** The promises in the titles of tests (`… [kn.budget]`), and whether all tests of each promise passed. */
function promisesSeen(testResults) {
  const seen = {};
  for (const { title, status } of testResults) {
    const [, id] = /\[([a-z]+(?:\.[a-z0-9]+)+)\]$/.exec(title) ?? [];
    if (id === undefined || status === 'pending') continue;
    if (status !== 'passed') seen[id] = 'failed';
    else seen[id] ??= 'passed';
  }
  return seen;
}

// Jest loads a reporter by its default export.
export default SummaryReporter;
