import { isMap, isSeq } from 'yaml';
import type { PolicyTest } from '@countersign/contracts/governance-kernel';
import { parsePolicyBundle } from './parse-bundle.ts';
import { PolicyError } from './policy-error.ts';
import { readYaml } from './read-yaml.ts';

/**
 * The text of a bundle with one more test at its end, in JSON or YAML as it was written, with its comments. Throws {@link PolicyError} where
 * either text is no bundle, and `DUPLICATE_TEST` where a test has the name already.
 */
export function withTest(text: string, test: PolicyTest): string {
  const { tests } = parsePolicyBundle(text);
  if (tests.some(({ name }) => name === test.name))
    throw new PolicyError('DUPLICATE_TEST', '/tests', `a test is named "${test.name}" already`);
  const longer = text.trimStart().startsWith('{') ? inJson(text, test) : inYaml(text, test);
  parsePolicyBundle(longer);
  return longer;
}

/** The parser of bundles takes no aliases. */
const plain = { aliasDuplicateObjects: false };

/** It was read as a bundle before, so it is an object and its tests are a list. */
function inJson(text: string, test: PolicyTest): string {
  const { tests = [], ...bundle } = JSON.parse(text) as { tests?: unknown[] };
  return `${JSON.stringify({ ...bundle, tests: [...tests, test] }, null, 2)}\n`;
}

function inYaml(text: string, test: PolicyTest): string {
  const { document } = readYaml(text);
  // Stryker disable next-line ConditionalExpression: It was read as a bundle before, so it is a mapping.
  if (!isMap(document.contents)) throw new PolicyError('MALFORMED_BUNDLE', '', 'not a policy bundle');
  if (isSeq(document.get('tests'))) document.addIn(['tests'], document.createNode(test, plain));
  else document.set('tests', document.createNode([test], plain));
  return document.toString({ lineWidth: 0 });
}
