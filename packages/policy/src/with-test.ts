import { isMap, isSeq } from 'yaml';
import type { PolicyTest } from '@countersign/contracts/governance-kernel';
import { parsePolicyBundle } from './parse-bundle.ts';
import { PolicyError } from './policy-error.ts';
import { readYaml } from './read-yaml.ts';

/**
 * The text of a bundle with one more test at its end. Its format (JSON or YAML) and its comments are kept. Throws
 * {@link PolicyError} when the text is not a valid bundle before or after, and `DUPLICATE_TEST` when the name is used
 * already.
 */
export function withTest(text: string, test: PolicyTest): string {
  const { tests } = parsePolicyBundle(text);
  if (tests.some(({ name }) => name === test.name))
    throw new PolicyError('DUPLICATE_TEST', '/tests', `a test named "${test.name}" already exists`);
  const longer = text.trimStart().startsWith('{') ? inJson(text, test) : inYaml(text, test);
  parsePolicyBundle(longer);
  return longer;
}

/** The parser of bundles rejects aliases. */
const plain = { aliasDuplicateObjects: false };

/** The text was parsed as a bundle before, so it is an object and its tests are a list. */
function inJson(text: string, test: PolicyTest): string {
  const { tests = [], ...bundle } = JSON.parse(text) as { tests?: unknown[] };
  return `${JSON.stringify({ ...bundle, tests: [...tests, test] }, null, 2)}\n`;
}

function inYaml(text: string, test: PolicyTest): string {
  const { document } = readYaml(text);
  // Stryker disable next-line ConditionalExpression: The text was parsed as a bundle before, so it is a mapping.
  if (!isMap(document.contents)) throw new PolicyError('MALFORMED_BUNDLE', '', 'the text is not a policy bundle');
  if (isSeq(document.get('tests'))) document.addIn(['tests'], document.createNode(test, plain));
  else document.set('tests', document.createNode([test], plain));
  return document.toString({ lineWidth: 0 });
}
