import { TestEnvironment } from 'jest-environment-node';
import { shuffle } from './shuffle.mjs';

/** Tests whose order is part of what they tell, declared with `describeStory` of the test kit. */
const story = / \[story\]$/;

/** Runs the tests of a file, and the blocks that hold them, in an order that follows from the seed of the run. */
export default class ShufflingEnvironment extends TestEnvironment {
  #seed;

  constructor(config, context) {
    super(config, context);
    this.#seed = `${config.globalConfig.seed} ${context.testPath}`;
  }

  handleTestEvent({ name }, { rootDescribeBlock }) {
    if (name === 'run_start') shuffleBlock(rootDescribeBlock, this.#seed);
  }
}

function shuffleBlock(block, seed) {
  if (!story.test(block.name)) block.children = shuffle(block.children, seed);
  for (const child of block.children) if (child.type === 'describeBlock') shuffleBlock(child, seed);
}
