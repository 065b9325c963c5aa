import { relative } from 'node:path';

/**
 * Returns the members in an order that depends only on `seed`.
 * @template Member
 * @param {readonly Member[]} list
 * @param {string | number} seed
 * @returns {Member[]}
 */
export function shuffle(list, seed) {
  const places = list.map((_, index) => hash(`${seed} ${index}`));
  return list
    .map((_, index) => index)
    .sort((a, b) => places[a] - places[b])
    .map((index) => list[index]);
}

/** The name of a block whose tests depend on their order. `describeStory` of the test kit declares such blocks. */
const story = / \[story\]$/;

/**
 * The seed of the order in a file: the seed of the run and the path below the root. It is the same in every checkout.
 */
export function seedOfFile(seed, { rootDir, path }) {
  return `${seed} ${relative(rootDir, path)}`;
}

/**
 * Shuffles the tests of a Jest block, and its inner blocks, by `seed`. A story stays in its order, with all its inner
 * blocks.
 */
export function shuffleTests(block, seed) {
  if (story.test(block.name)) return;
  block.children = shuffle(block.children, seed);
  for (const child of block.children) if (child.type === 'describeBlock') shuffleTests(child, seed);
}

/** FNV-1a with a final mixing, which spreads texts that differ only in their last letters. */
function hash(text) {
  let value = 0x811c9dc5;
  for (const character of text) value = Math.imul(value ^ character.codePointAt(0), 0x01000193);
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d);
  return (value ^ (value >>> 12)) >>> 0;
}
