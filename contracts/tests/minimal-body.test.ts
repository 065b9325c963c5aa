import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { controlPlaneRoutes, commercialRoutes, forwarding, gatewayRoutes } from '../src/routes/index.ts';
import type { AnyRoute } from '../src/route.ts';
import { minimalBody } from '../src/testing.ts';

const routes: AnyRoute[] = [
  ...Object.values<AnyRoute>({ ...gatewayRoutes, ...controlPlaneRoutes, ...commercialRoutes }),
  ...forwarding.map(({ route }) => route),
].filter(({ body }) => body instanceof z.ZodType);

/** Routes that require one of several optional members, which a JSON Schema does not express. */
const needMembers = new Set([
  ...['start-run', 'create-console-run', 'finish-login', 'finish-reauth'],
  ...['import-host-chain', 'register-mcp-server'],
]);

describe('the minimal body of a route', () => {
  it('is valid for each route, except for those that need members which a test chooses', () => {
    const invalid = routes.filter((route) => {
      try {
        minimalBody(route);
        return false;
      } catch {
        return true;
      }
    });
    expect(routes.length).toBeGreaterThan(80);
    expect(new Set(invalid.map(({ operation }) => operation))).toEqual(needMembers);
  });

  it('has only required members, and the chosen ones', () => {
    const body = z.strictObject({
      name: z.string().min(3),
      note: z.string().optional(),
      end: z.iso.datetime().nullable(),
    });
    const route = { operation: 'create-thing', body };
    expect(minimalBody(route)).toEqual({ name: 'xxxxxxxx', end: null });
    expect(minimalBody(route, { note: 'chosen' })).toEqual({ name: 'xxxxxxxx', end: null, note: 'chosen' });
  });

  it('is refused when a chosen member is invalid, and for a route without a body', () => {
    const body = z.strictObject({ count: z.int() });
    expect(() => minimalBody({ operation: 'count', body }, { count: 'one' })).toThrow('count needs members');
    expect(() => minimalBody({ operation: 'read', body: undefined })).toThrow('read has no body');
  });
});
