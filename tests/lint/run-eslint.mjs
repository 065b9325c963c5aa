// Lints the repository part by part, each in a process of its own. Usage: node tests/lint/run-eslint.mjs
// A process keeps the types of all that it has linted: 2.6 GB for the services, and 5.4 GB for all parts together.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The largest part needs less than 3 GB. */
const heapMbMax = 4_096;

const root = fileURLToPath(new URL('../..', import.meta.url));
/** All other folders together are the last part. */
const folderSets = [['contracts'], ['services'], ['packages/console/src', 'packages/console/tests']];
const rest = ['.', ...folderSets.flat().flatMap((folder) => ['--ignore-pattern', `${folder}/`])];

const failed = [...folderSets, rest].filter((folders) => {
  const args = [`--max-old-space-size=${heapMbMax}`, 'node_modules/eslint/bin/eslint.js', ...folders];
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status !== 0;
});
process.exitCode = failed.length > 0 ? 1 : 0;
