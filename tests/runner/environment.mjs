import { setTimeout as delay } from 'node:timers/promises';
import { TestEnvironment } from 'jest-environment-node';
import { collectEvidence } from './evidence.mjs';
import { describeOpen, openResources } from './open-handles.mjs';
import { seedOfFile, shuffleTests } from './shuffle.mjs';

/**
 * A closed socket or process disappears within a few turns of the loop. The rest of the time is for machines under
 * load.
 */
const closingMsMax = 20_000;
/**
 * The lower bound of all time limits. A slow machine must not fail a test, so only a hanging test reaches its limit.
 */
const timeoutMsMin = 900_000;
const pollMs = 20;
const failures = new Set(['test_fn_failure', 'hook_failure', 'error']);

/**
 * Runs the tests and blocks of a file in an order that follows from the seed of the run. Stores evidence of each
 * failure. Fails a file that leaves handles open, since Jest would wait for them or kill the worker.
 */
export default class Environment extends TestEnvironment {
  #testPath;
  #seed;
  #openBefore = [];
  #hasFailed = false;

  constructor(config, context) {
    super(config, context);
    this.#testPath = context.testPath;
    const { rootDir } = config.projectConfig;
    this.#seed = seedOfFile(config.globalConfig.seed, { rootDir, path: context.testPath });
  }

  async setup() {
    await super.setup();
    this.#openBefore = openResources();
  }

  async handleTestEvent({ name, test, hook }, { rootDescribeBlock }) {
    if (name === 'run_start') shuffleTests(rootDescribeBlock, this.#seed);
    if (name === 'hook_start') raiseTimeout(hook);
    if (name === 'test_start') raiseTimeout(test);
    if (!failures.has(name)) return;
    this.#hasFailed = true;
    await collectEvidence(this.#testPath, test?.name ?? 'hook');
  }

  async teardown() {
    await super.teardown();
    // Otherwise Jest would report the open handles instead of the failures that left them open.
    if (!this.#hasFailed) await this.#assertNothingOpen();
  }

  async #assertNothingOpen() {
    const deadline = performance.now() + closingMsMax;
    for (;;) {
      if (openResources().length <= this.#openBefore.length) return;
      if (performance.now() > deadline) throw new Error(`The file ended and left open: ${describeOpen()}`);
      await delay(pollMs, undefined, { ref: false });
    }
  }
}

function raiseTimeout(limited) {
  limited.timeout = Math.max(limited.timeout ?? 0, timeoutMsMin);
}
