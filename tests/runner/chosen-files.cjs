const { readFileSync } = require('node:fs');

/**
 * Jest's filter, which Jest loads by `require`. It selects the files that run-tests.mjs chose. As arguments, Jest would
 * print all of them.
 */
module.exports = async (paths) => {
  const chosen = new Set(JSON.parse(readFileSync(process.env.COUNTERSIGN_TEST_FILES, 'utf8')));
  return { filtered: paths.filter((path) => chosen.has(path)) };
};
