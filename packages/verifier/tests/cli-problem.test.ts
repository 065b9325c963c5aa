import { expect, it } from '@jest/globals';
import { cliProblem } from '../src/cli-problem.ts';

const failed = (message: string, members: object = {}) => Object.assign(new Error(message), members);

it.each<[string, unknown, string | undefined, string]>([
  ['a missing file', failed('x', { code: 'ENOENT', path: 'a' }), undefined, 'a cannot be read: no such file'],
  [
    'a file that the user may not read',
    failed('x', { code: 'EACCES', path: 'a' }),
    undefined,
    'a cannot be read: permission denied',
  ],
  ['a folder', failed('x', { code: 'EISDIR' }), undefined, 'The file cannot be read: it is a directory'],
  [
    'a missing file that the caller names',
    failed('x', { code: 'ENOENT', path: 'a' }),
    'b',
    'b cannot be read: no such file',
  ],
  [
    'an unknown option',
    failed("Unknown option '--x'. To specify a positional argument starting with a '-', …", {
      code: 'ERR_PARSE_ARGS_UNKNOWN_OPTION',
    }),
    undefined,
    "Unknown option '--x'; see --help",
  ],
  ['the content of a file', failed('line 3 is no JSON. Sorry.'), 'keys.json', 'keys.json: line 3 is no JSON. Sorry.'],
  ['another error', failed('no keys are given. See.', { code: 'EIO' }), undefined, 'no keys are given. See.'],
  ['a value that is not an error', 'broken', 'a', 'broken'],
])('the message names the problem: %s', (_what, error, file, text) => {
  expect(cliProblem(error, file)).toBe(text);
});
