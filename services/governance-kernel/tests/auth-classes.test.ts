import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AnyRoute } from '@countersign/contracts';
import { verifies } from '@countersign/testkit/verifies';
import { adminKey, serviceKey, startTestKernel, type TestKernel } from './_kernel.ts';
import { allRoutes, credentialsFor, rawCall } from './_raw.ts';

let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel();
});
afterAll(() => test.close());

const guarded = allRoutes.filter(({ auth }) => auth !== 'public');
const tenant = { 'x-gov-tenant-id': 'acme' };
const bearer = (key: string) => ({ authorization: `Bearer ${key}`, ...tenant });

/** Status and code of every route's answer to these headers, by operation. */
async function answers(routes: AnyRoute[], headersOf: (route: AnyRoute) => Record<string, string>) {
  const found: Record<string, string> = {};
  for (const route of routes) {
    const { status, text } = await rawCall(test.kernel.url, { route, headers: headersOf(route) });
    const code = hasCode(route) ? ` ${codeOf(text)}` : '';
    found[route.operation] = `${status}${code}`;
  }
  return found;
}

/** MCP and AuthZEN errors have a different format. */
const hasCode = ({ media }: AnyRoute) => media !== 'mcp' && media !== 'authzen';
const codeOf = (text: string) => /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? 'none';
const allAnswer = (routes: AnyRoute[], status: number, code: string) =>
  Object.fromEntries(routes.map((route) => [route.operation, hasCode(route) ? `${status} ${code}` : `${status}`]));

describe('auth classes, over every route of the contract', () => {
  verifies('kn.auth.classes', 'without a credential every route that is not public is refused', async () => {
    expect(await answers(guarded, () => tenant)).toEqual(allAnswer(guarded, 401, 'CREDENTIALS_REQUIRED'));
  });

  verifies('kn.auth.classes', 'a wrong credential is refused, and so is one that is nearly right', async () => {
    for (const wrong of ['wrong', adminKey.slice(0, -1), `${adminKey}x`, `${serviceKey.slice(0, -1)}x`])
      expect(await answers(guarded, () => bearer(wrong))).toEqual(allAnswer(guarded, 401, 'CREDENTIALS_INVALID'));
  });

  verifies('kn.auth.classes', 'a credential of a different class than that of the route is refused', async () => {
    const another = ({ auth }: AnyRoute) => bearer(auth === 'service_internal' ? adminKey : serviceKey);
    expect(await answers(guarded, another)).toEqual(allAnswer(guarded, 401, 'CREDENTIALS_INVALID'));
  });

  verifies('kn.auth.classes', 'a tenant route needs a tenant, and header and query must not differ', async () => {
    const routes = allRoutes.filter(({ auth }) => auth === 'tenant_scoped');
    const nobody = { authorization: `Bearer ${adminKey}` };
    expect(await answers(routes, () => nobody)).toEqual(allAnswer(routes, 403, 'TENANT_REQUIRED'));
    for (const route of routes.filter(({ media }) => media !== 'mcp')) {
      const { status, text } = await rawCall(test.kernel.url, {
        route,
        headers: bearer(adminKey),
        query: { tenant_id: 'other' },
      });
      expect([route.operation, status]).toEqual([route.operation, 400]);
      if (hasCode(route)) expect([route.operation, codeOf(text)]).toEqual([route.operation, 'INVALID_REQUEST']);
    }
  });

  verifies(
    'kn.auth.classes',
    'a malformed tenant is refused as invalid input, and the answer names its header or parameter',
    async () => {
      const routes = allRoutes.filter(({ auth, media }) => auth === 'tenant_scoped' && media !== 'mcp');
      const authorization = `Bearer ${adminKey}`;
      const ways: { headers: Record<string, string>; query?: Record<string, string>; param: string }[] = [
        { headers: { authorization, 'x-gov-tenant-id': 'a tenant' }, param: 'X-Gov-Tenant-ID' },
        { headers: { authorization, 'x-gov-tenant-id': '' }, param: 'X-Gov-Tenant-ID' },
        { headers: { authorization }, query: { tenant_id: 'a tenant' }, param: 'tenant_id' },
      ];
      for (const { param, ...statement } of ways)
        for (const route of routes) {
          const { status, text } = await rawCall(test.kernel.url, { route, ...statement });
          expect([route.operation, status]).toEqual([route.operation, 400]);
          if (hasCode(route)) expect([route.operation, codeOf(text)]).toEqual([route.operation, 'INVALID_REQUEST']);
          expect([route.operation, text.includes(`${param} is malformed`)]).toEqual([route.operation, true]);
        }
    },
  );

  verifies('kn.auth.classes', 'the right credential, or none on a public route, passes the guard', async () => {
    for (const route of allRoutes) {
      const { status } = await rawCall(test.kernel.url, { route, headers: credentialsFor(route) });
      expect([route.operation, [401, 403].includes(status)]).toEqual([route.operation, false]);
    }
  });

  it('the scheme Bearer is accepted in any case', async () => {
    const headers = { authorization: `BEARER ${adminKey}`, ...tenant };
    const route = allRoutes.find(({ operation }) => operation === 'list-receipts');
    if (route === undefined) throw new Error('the contract has no list-receipts');
    expect((await rawCall(test.kernel.url, { route, headers })).status).toBe(200);
  });
});
