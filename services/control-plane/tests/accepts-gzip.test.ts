import { expect, it } from '@jest/globals';
import { acceptsGzip } from '../src/console/accepts-gzip.ts';

it.each<[string | undefined, boolean]>([
  ['gzip', true],
  ['br;q=1, gzip', true],
  ['gzip;q=1.0', true],
  ['GZIP ; q=1.000', true],
  ['gzip;q=0.001', true],
  ['gzip;q=0', false],
  ['gzip;q=0.000', false],
  ['gzip;q=2', false],
  ['x-gzip', false],
  ['br', false],
  [undefined, false],
])('Accept-Encoding %p accepts gzip: %p', (header, accepts) => {
  expect(acceptsGzip(header)).toBe(accepts);
});
