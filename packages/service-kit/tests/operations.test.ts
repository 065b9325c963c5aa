import { expect, it } from '@jest/globals';
import { defineRoute } from '@countersign/contracts';
import { z } from 'zod';
import { endpointsOf, handlePublic } from '../src/index.ts';

const routeOf = (operation: string) =>
  defineRoute({
    ...{ operation, summary: operation, method: 'GET', path: `/${operation}`, auth: 'public' },
    reply: z.strictObject({}),
  });
const routes = { getFirst: routeOf('get-first'), getSecond: routeOf('get-second') };
const first = () => handlePublic(routes.getFirst)(() => ({}));
const second = () => handlePublic(routes.getSecond)(() => ({}));

it('operations: one endpoint is built for each entry, with the context of the service', () => {
  const contexts: object[] = [];
  const context = {};
  const counted = (counts: object) => {
    contexts.push(counts);
    return first();
  };
  const endpoints = endpointsOf(routes, { getFirst: counted, getSecond: second }, context);
  expect(endpoints.map(({ route }) => route.operation)).toEqual(['get-first', 'get-second']);
  expect(contexts).toEqual([context]);
});

it('operations: an entry whose route differs from its name is refused', () => {
  expect(() => endpointsOf(routes, { getFirst: second, getSecond: first }, {})).toThrow(
    'The entry getFirst answers the route get-second',
  );
});
