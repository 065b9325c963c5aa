import { relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { TestEnvironment } from 'jest-environment-node';
import { collectEvidence } from './evidence.mjs';
import { describeOpen, openResources } from './open-handles.mjs';
import { shuffle } from './shuffle.mjs';

/** Tests whose order is part of what they show, declared with `describeStory` of the test kit. */
const story = / \[story\]$/;
/** A socket or a process that was closed is gone within a few turns of the loop; a machine under load gets the rest. */
const closingMsMax = 20_000;
const pollMs = 20;
const failures = new Set(['test_fn_failure', 'hook_failure', 'error']);

/**
 * With COUNTERSIGN_TEST_SHUFFLE=1, runs the tests of a file, and the blocks that hold them, in an order that follows from the seed of the
 * run. Keeps evidence of each failure. Fails a file that leaves something open: Jest would wait for it, or kill the worker.
 */
export default class Environment extends TestEnvironment {
  #testPath;
  #seed;
  #openBefore = [];
  #hasFailed = false;

  constructor(config, context) {
    super(config, context);
    this.#testPath = context.testPath;
    // The path from the root: a seed gives the same order wherever the repository lies.
    this.#seed = `${config.globalConfig.seed} ${relative(config.projectConfig.rootDir, context.testPath)}`;
  }

  async setup() {
    await super.setup();
    this.#openBefore = openResources();
  }

  async handleTestEvent({ name, test }, { rootDescribeBlock }) {
    if (name === 'run_start' && process.env.COUNTERSIGN_TEST_SHUFFLE === '1')
      shuffleBlock(rootDescribeBlock, this.#seed);
    if (!failures.has(name)) return;
    this.#hasFailed = true;
    await collectEvidence(this.#testPath, test?.name ?? 'hook');
  }

  async teardown() {
    await super.teardown();
    // Jest would report what is open in place of the failures that left it open.
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

/** All of a story stays in its order, also what stands in blocks of its own. */
function shuffleBlock(block, seed) {
  if (story.test(block.name)) return;
  block.children = shuffle(block.children, seed);
  for (const child of block.children) if (child.type === 'describeBlock') shuffleBlock(child, seed);
}
