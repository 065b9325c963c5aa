// The results of a run of Jest, as the summary reporter writes them, and sums over several runs.
import { readFileSync } from 'node:fs';

/**
 * @typedef {{ file: string, seconds: number, passed: number, skipped: number, promises: Record<string, 'passed' | 'failed'>,
 *   failures: { title: string, message: string }[] }} FileResult
 * @typedef {{ files: FileResult[], passed: number, failed: number, skipped: number, promises: Record<string, 'passed' | 'failed'>,
 *   levels: Record<string, { seconds: number, files: number }> }} Results
 */

const slowestShown = 10;

/** @returns {Results} */
export function resultsOf(files, levels = {}) {
  const sum = (count) => files.reduce((total, file) => total + count(file), 0);
  const promises = {};
  for (const [id, outcome] of files.flatMap((file) => Object.entries(file.promises)))
    promises[id] = promises[id] === 'failed' ? 'failed' : outcome;
  return {
    files,
    passed: sum(({ passed }) => passed),
    failed: sum(({ failures }) => failures.length),
    skipped: sum(({ skipped }) => skipped),
    promises,
    levels,
  };
}

/** @returns {Results} */
export function merge(a, b) {
  return resultsOf([...a.files, ...b.files], { ...a.levels, ...b.levels });
}

/** @returns {Results} with these failures added to their files */
export function withFailures({ files, levels }, faults) {
  const failuresOf = (file) =>
    faults.filter((fault) => fault.file === file).map(({ message }) => ({ title: 'the file itself', message }));
  const judged = files.map((each) => ({ ...each, failures: [...each.failures, ...failuresOf(each.file)] }));
  return resultsOf(judged, levels);
}

/** @returns {Results} of the run that ended with `code`. A run that ended early, or left handles open, has failed. */
export function readResults(summaryFile, code) {
  let files = [];
  try {
    files = JSON.parse(readFileSync(summaryFile, 'utf8'));
  } catch {
    return resultsOf([failedFile('Jest', 'Jest ended without a summary')]);
  }
  const results = resultsOf(files);
  if (code === 0 || results.failed > 0) return results;
  return resultsOf([...files, failedFile('Jest', `Jest ended with code ${code}`)]);
}

const failedFile = (title, message) => ({
  file: title,
  seconds: 0,
  passed: 0,
  skipped: 0,
  promises: {},
  failures: [{ title, message }],
});

/** @returns {string[]} lines for people */
export function timesOf({ files, levels }) {
  const ofLevels = Object.entries(levels).map(
    ([level, { seconds, files: count }]) => `${level.padEnd(8)} ${seconds.toFixed(0).padStart(4)} s  ${count} files`,
  );
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, slowestShown);
  const ofFiles = slowest.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${file}`);
  return ofFiles.length === 0 ? [] : [...ofLevels, 'Slowest files:', ...ofFiles];
}
