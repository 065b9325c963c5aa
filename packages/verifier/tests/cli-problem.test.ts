import { expect, it } from '@jest/globals';
import { cliProblem } from '../src/cli-problem.ts';

const failed = (message: string, members: object = {}) => Object.assign(new Error(message), members);

it.each<[string, unknown, string | undefined, string]>([
  ['no file of that name', failed('x', { code: 'ENOENT', path: 'a' }), undefined, 'a cannot be read: no such file'],
  ['a file of others', failed('x', { code: 'EACCES', path: 'a' }), undefined, 'a cannot be read: this user may not'],
  ['a folder', failed('x', { code: 'EISDIR' }), undefined, 'The file cannot be read: it is a directory'],
  ['a file that was named', failed('x', { code: 'ENOENT', path: 'a' }), 'b', 'b cannot be read: no such file'],
  [
    'an unknown option',
    failed("Unknown option '--x'. To specify a positional argument starting with a '-', …", {
      code: 'ERR_PARSE_ARGS_UNKNOWN_OPTION',
    }),
    undefined,
    "Unknown option '--x'; see --help",
  ],
  ['what a file holds', failed('line 3 is no JSON. Sorry.'), 'keys.json', 'keys.json: line 3 is no JSON. Sorry.'],
  ['anything else', failed('no keys are given. See.', { code: 'EIO' }), undefined, 'no keys are given. See.'],
  ['what is no error', 'broken', 'a', 'broken'],
])('says what went wrong with %s', (_what, error, file, said) => {
  expect(cliProblem(error, file)).toBe(said);
});
