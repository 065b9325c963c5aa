import { relative } from 'node:path';

/**
 * The members in an order that follows from `seed` alone.
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

/** Tests whose order is part of what they show, declared with `describeStory` of the test kit. */
const story = / \[story\]$/;

/** The seed of the order in a file: the seed of the run with the path below the root, so that it is the same in every checkout. */
export function seedOfFile(seed, { rootDir, path }) {
  return `${seed} ${relative(rootDir, path)}`;
}

/**
 * Puts the tests of a block of Jest, and the blocks in it, in an order that follows from `seed`. All of a story stays in its order, also
 * what stands in blocks of its own.
 */
export function shuffleTests(block, seed) {
  if (story.test(block.name)) return;
  block.children = shuffle(block.children, seed);
  for (const child of block.children) if (child.type === 'describeBlock') shuffleTests(child, seed);
}

/** FNV-1a, and a last mixing that spreads texts which differ in their last letters only. */
function hash(text) {
  let value = 0x811c9dc5;
  for (const character of text) value = Math.imul(value ^ character.codePointAt(0), 0x01000193);
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d);
  return (value ^ (value >>> 12)) >>> 0;
}
