import './_window.ts';
import { expect, it } from '@jest/globals';
import { wayBack } from '../src/sign-in/login.ts';

it.each([
  ['/runs/run_1?state=failed', '/runs/run_1?state=failed'],
  [undefined, '/overview'],
  ['/sign-in', '/overview'],
  ['https://evil.example/x', '/overview'],
  ['//evil.example', '/overview'],
  ['/\\/evil.example', '/overview'],
  ['/.//evil.example', '/overview'],
  ['/..//evil.example', '/overview'],
  ['/.\\/evil.example', '/overview'],
  ['javascript:alert(1)', '/overview'],
])('a sign-in on the way to %j ends at %s', (requested, on) => {
  expect(wayBack(requested)).toBe(on);
});
