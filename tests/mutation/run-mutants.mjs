import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Stryker } from '@stryker-mutator/core';
import { nodeFlags } from '../runner/node-flags-of.mjs';
import { durationsVariable, testFilesVariable } from './file-by-file.mjs';
import { notRun, sampleVariable } from './sampled.mjs';
import { listen } from './told.mjs';

// Every suite of a service in one process takes minutes, and nobody has the machine for himself.
const dryRunTimeoutMinutes = 60;
/** A mutant hangs beyond this times what its test files take without it, and so many milliseconds. */
const timeoutFactor = 2;
const timeoutMs = 20_000;
/** What a test may wait for at most; a mutant that keeps it waiting is seen. */
const testTimeoutMs = 60_000;
/** Jest keeps what it has loaded of native modules. */
const runsOfOneProcess = 25;

const plugins = ['file-by-file.mjs', 'sampled.mjs', 'for-people.mjs', 'told.mjs'];

/**
 * Runs the mutants in the working directory, which is a copy that nobody else uses, and tells each result as it comes. With `isServices`
 * each mutant has a process of its own, because what a failing test of a service leaves running ends with its process only.
 */
export async function runMutants({ mutants, testFiles, isServices, scratch, onResult }) {
  const sampleFile = join(scratch, 'sample.json');
  writeFileSync(sampleFile, JSON.stringify(mutants.map(({ key }) => key)));
  process.env[sampleVariable] = sampleFile;
  process.env[testFilesVariable] = JSON.stringify(testFiles);
  process.env[durationsVariable] = join(scratch, 'durations.json');
  const byKey = new Map(mutants.map((mutant) => [mutant.key, mutant]));
  const stopListening = listen((key, result) => {
    const mutant = byKey.get(key);
    if (mutant !== undefined && result.status !== notRun) onResult(mutant, result);
  });
  const stryker = new Stryker({
    inPlace: true,
    concurrency: 1,
    logLevel: 'warn',
    mutate: [...new Set(mutants.map(({ file }) => file))],
    plugins: plugins.map((name) => fileURLToPath(new URL(name, import.meta.url))),
    reporters: ['told'],
    ignorers: ['for-people'],
    checkers: ['sampled'],
    testRunner: 'file-by-file',
    testRunnerNodeArgs: [...nodeFlags(), '--experimental-vm-modules', '--no-warnings'],
    maxTestRunnerReuse: isServices ? 1 : runsOfOneProcess,
    coverageAnalysis: 'perTest',
    dryRunTimeoutMinutes,
    timeoutFactor,
    timeoutMS: timeoutMs,
    warnings: false,
    jest: {
      configFile: 'jest.config.mjs',
      config: { testTimeout: testTimeoutMs, testEnvironment: environmentOfJest() },
      enableFindRelatedTests: false,
    },
  });
  await stryker.runMutationTest();
  stopListening();
}

/** Stryker looks for it beside the sources, where only Jest itself is installed. */
function environmentOfJest() {
  const { resolve } = ['jest', 'jest-cli', 'jest-config'].reduce(
    (from, name) => createRequire(from.resolve(name)),
    createRequire(`${process.cwd()}/`),
  );
  return resolve('jest-environment-node');
}
