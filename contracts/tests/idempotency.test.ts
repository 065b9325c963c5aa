import { describe, expect, it } from '@jest/globals';
import { openApiText, routesByService } from '@countersign/contracts/openapi';
import { idempotencyExemptions } from '../src/idempotency.ts';

type Operation = {
  parameters: { name: string }[];
  'x-countersign-idempotency'?: { exempt: string; reason: string };
  responses: Record<string, { headers?: Record<string, unknown> }>;
};
type Document = { paths: Record<string, Record<string, Operation>> };

const routes = routesByService.flatMap(({ name, routes: ofService }) => {
  const { paths } = JSON.parse(openApiText(name)) as Document; // our own document
  return ofService.map((route) => ({ route, operation: paths[route.path]?.[route.method.toLowerCase()] }));
});
const changing = routes.filter(({ route }) => route.method !== 'GET');

describe('a route that may change state', () => {
  it.each(changing.map(({ route, operation }) => [route.operation, route, operation] as const))(
    'accepts an Idempotency-Key, or publishes why not: %s',
    (_name, route, operation) => {
      const { idempotency } = route;
      const exempt = idempotency === 'key' ? undefined : idempotency?.exempt;
      const published = exempt === undefined ? undefined : { exempt, reason: idempotencyExemptions[exempt] };
      expect(operation?.['x-countersign-idempotency']).toEqual(published);
      expect(operation?.parameters.some(({ name }) => name === 'Idempotency-Key')).toBe(idempotency === 'key');
      const { headers } = operation?.responses[route.status] ?? {};
      expect(headers !== undefined && 'Idempotency-Replayed' in headers).toBe(idempotency === 'key');
    },
  );
});

it('stores answers only for callers with an identity', () => {
  const keyed = changing.filter(({ route }) => route.idempotency === 'key');
  expect(keyed.filter(({ route }) => route.auth === 'public')).toEqual([]);
  expect(keyed.length).toBeGreaterThan(30);
});

it('each published reason is used by a route', () => {
  const named = changing.flatMap(({ route: { idempotency } }) =>
    idempotency === undefined || idempotency === 'key' ? [] : [idempotency.exempt],
  );
  expect([...new Set(named)].sort()).toEqual(Object.keys(idempotencyExemptions).sort());
});
