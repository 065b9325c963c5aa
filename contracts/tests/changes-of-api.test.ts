import { expect, it } from '@jest/globals';
import { changesOfApi } from '../scripts/changes-of-api.mjs';

const api = (paths: object, schemas: object) => ({ paths, components: { schemas } });

it('names each operation and each schema that is new, gone or different', () => {
  const before = api({ '/a': { get: { summary: 'A' }, post: {} }, '/b': { get: {} } }, { Kept: {}, Gone: {} });
  const after = api({ '/a': { get: { summary: 'Another' }, post: {} }, '/c': { put: {} } }, { Kept: {}, New: {} });
  expect(changesOfApi(before, after)).toEqual([
    ...['~ operation GET /a', '- operation GET /b', '+ operation PUT /c'],
    ...['- schema Gone', '+ schema New'],
  ]);
});
