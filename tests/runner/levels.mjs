// A test's level follows from its folder and its imports. There is no list to maintain, and no file can claim a lower
// level.
import { importsOf, services, testFiles } from './imports.mjs';

/** From cheap to expensive, in the order of their runs. */
export const levels = ['unit', 'store', 'service', 'system'];

/**
 * The imports that mark a test file, or a helper beside it, for each level. Imports of sources do not count: a rule
 * that a unit test calls may be beside code that opens sockets.
 */
const marks = [
  ['system', /^playwright-core$|^@countersign\/local$|^node-pty$/],
  [
    'service',
    /^node:(?:http|https|net|tls|child_process|worker_threads|dgram)$|^supertest$|^express$|^@modelcontextprotocol\//,
  ],
  [
    'service',
    /^@countersign\/testkit\/(?:scripted-model|mcp-server|otlp-collector|tcp-proxy|service-process|browser)$/,
  ],
  ['service', new RegExp(`^@countersign/(?:${[...services].join('|')})$`)],
  ['store', /^@countersign\/database(?:\/testing)?$|^pg$|^amqplib$/],
];
const systemFolders = ['tests/e2e/', 'tests/chaos/', 'tests/deployment/'];
const databaseTesting = 'packages/database/src/testing.ts';
const isStart = /(?:^|\/)src\/(?:index|start)\.ts$/;
const serviceFolder = /^services\/[^/]+\//;

/** @returns {Map<string, string[]>} the test files of each level */
export function filesByLevel() {
  const byLevel = new Map(levels.map((level) => [level, []]));
  for (const file of testFiles()) byLevel.get(levelOf(file)).push(file);
  return byLevel;
}

/** @returns {string} the most expensive level by the folder and the imports of the file and its helpers */
export function levelOf(file) {
  const found = new Set(['unit']);
  const seen = new Set();
  const visit = (path) => {
    if (seen.has(path)) return;
    seen.add(path);
    if (systemFolders.some((folder) => path.startsWith(folder))) found.add('system');
    for (const { specifier, to } of importsOf(path)) {
      for (const [level, mark] of marks) if (mark.test(specifier)) found.add(level);
      if (to === databaseTesting) found.add('store');
      if (to !== null && serviceFolder.test(to) && isStart.test(to) && specifier.startsWith('.')) found.add('service');
      if (to !== null && isBesideTests(to)) visit(to);
    }
  };
  visit(file);
  return levels.findLast((level) => found.has(level));
}

const isBesideTests = (path) => /(?:^|\/)tests\/.*\.tsx?$/.test(path);
