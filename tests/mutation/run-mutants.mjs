import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Stryker } from '@stryker-mutator/core';
import { testFlags } from '../runner/node-flags-of.mjs';
import { hashOf, isTest, sourcesBelow } from './files.mjs';
import { recordPlan } from './plan.mjs';
import { notRun } from './sampled.mjs';
import { listen } from './told.mjs';

// Every suite of a service in one process takes minutes, and longer on a busy machine.
const dryRunTimeoutMinutes = 60;
/**
 * A mutant times out after this factor of its test files' normal time, plus the milliseconds below. A busy machine must
 * not cause a timeout.
 */
const timeoutFactor = 5;
const timeoutMs = 60_000;
/** The longest wait of a test. A mutant that makes a test wait longer is detected. */
const testTimeoutMs = 60_000;
/** The number of runs before a process restarts, because Jest never frees loaded native modules. */
const runsOfOneProcess = 25;

const plugins = ['file-by-file.mjs', 'sampled.mjs', 'for-people.mjs', 'told.mjs'];

/**
 * Runs the mutants in the working directory, which is a private copy, and reports each result at once. `sources` are
 * all files of their rooms, so that mutants keep their numbers. With `isService` each mutant has its own process: what
 * a failing test of a service leaves running ends only with its process. Returns the tests that failed without a mutant
 * and were left out.
 */
export async function runMutants({ mutants, sources, testFiles, isService, scratch, reachedFolder, onResult }) {
  const sampleFile = join(scratch, 'sample.json');
  writeFileSync(sampleFile, JSON.stringify(mutants.map(({ key }) => key)));
  const testsFile = join(scratch, 'tests.json');
  recordPlan({ sampleFile, testFiles, testsFile, reachedFolder, world: worldOf({ sources, testFiles }) });
  const byKey = new Map(mutants.map((mutant) => [mutant.key, mutant]));
  const stopListening = listen((key, result) => {
    const mutant = byKey.get(key);
    if (mutant !== undefined && result.status !== notRun) onResult(mutant, result);
  });
  process.env.COUNTERSIGN_MUTANTS = '1';
  const stryker = new Stryker({
    inPlace: true,
    concurrency: 1,
    logLevel: 'warn',
    mutate: sources,
    plugins: plugins.map((name) => fileURLToPath(new URL(name, import.meta.url))),
    reporters: ['told'],
    ignorers: ['for-people'],
    checkers: ['sampled'],
    testRunner: 'file-by-file',
    testRunnerNodeArgs: testFlags(),
    maxTestRunnerReuse: isService ? 1 : runsOfOneProcess,
    coverageAnalysis: 'perTest',
    dryRunTimeoutMinutes,
    timeoutFactor,
    timeoutMS: timeoutMs,
    warnings: false,
    jest: {
      configFile: 'jest.config.mjs',
      config: {
        testTimeout: testTimeoutMs,
        testEnvironment: environmentOfJest(),
        // Jest looks for tests in these folders only. It finds imported files elsewhere too.
        roots: [...new Set(testFiles.map((file) => join(process.cwd(), dirname(file))))],
        watchman: false,
      },
      enableFindRelatedTests: false,
    },
  });
  await stryker.runMutationTest();
  stopListening();
  return JSON.parse(readFileSync(testsFile, 'utf8')).leftOut;
}

/**
 * One hash over everything that a test file may depend on besides itself: all sources, and the helpers in its folder.
 */
function worldOf({ sources, testFiles }) {
  const folders = ['contracts', 'packages', 'services', 'infra'].flatMap((folder) => sourcesBelow(folder));
  const written = folders.filter((file) => file.includes('/src/'));
  const shared = [...new Set(testFiles.map(dirname))].flatMap((folder) => sourcesBelow(folder));
  return hashOf([...sources, ...written, ...shared.filter((file) => !isTest(file))]);
}

/** Stryker looks for the environment beside the sources, where only Jest itself is installed. */
function environmentOfJest() {
  const { resolve } = ['jest', 'jest-cli', 'jest-config'].reduce(
    (from, name) => createRequire(from.resolve(name)),
    createRequire(`${process.cwd()}/`),
  );
  return resolve('jest-environment-node');
}
