import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AnyRoute, BudgetId } from '@countersign/contracts';
import { verifies } from '@countersign/testkit/verifies';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { allRoutes, credentialsFor, rawCall } from './_raw.ts';
import { seal } from './_seal.ts';

const unknownUlid = '01ARZ3NDEKTSV4RRFFQ69G5FAV';

let test: TestKernel;
/** Ids of the owner's things, and ids of nothing, by the names that routes have for them. */
let foreign: Record<string, string>;
const unknown: Record<string, string> = {
  receipt_id: `rcp_${unknownUlid}`,
  record_id: `rec_${unknownUlid}`,
  approval_id: `apr_${unknownUlid}`,
  budget_id: 'no-budget',
  session_id: 'no-session',
  agent: 'no-agent',
};
beforeAll(async () => {
  test = await startTestKernel();
  await test.activate('*', starterPolicy);
  foreign = await ownersThings();
});
afterAll(() => test.close());

async function ownersThings(): Promise<Record<string, string>> {
  const budget_id = 'owners-budget' as BudgetId;
  const budget = { subject: 'tenant', window: '24h', tool_call_limit: 100 };
  await rawCall(test.kernel.url, {
    route: routeOf('put-budget'),
    params: { budget_id },
    headers: credentialsFor(routeOf('put-budget'), 'owner'),
    body: JSON.stringify(budget),
  });
  const { receipt, receipt_id, record_id, approval } = await seal(test, {
    tenant: 'owner',
    principal: 'owners-agent',
    tool: 'pay.send',
  });
  const { session_id } = receipt.payload;
  return {
    receipt_id,
    record_id,
    approval_id: approval?.approval_id ?? '',
    budget_id,
    session_id,
    agent: 'owners-agent',
  };
}

function routeOf(operation: string): AnyRoute {
  const route = allRoutes.find((candidate) => candidate.operation === operation);
  if (route === undefined) throw new Error(`the contract has no ${operation}`);
  return route;
}

/** Reads, and whatever acts on something that exists already; PUT makes a thing of the caller's own. */
const addressed = allRoutes.filter(({ auth, method }) => auth === 'tenant_scoped' && method !== 'PUT');
const reading = addressed.filter(({ method, media }) => method === 'GET' && media === 'json');

function queryNames({ query }: AnyRoute): string[] {
  const shape: unknown = query !== undefined && 'shape' in query ? query.shape : null;
  return typeof shape === 'object' && shape !== null ? Object.keys(shape) : [];
}

const idsInPath = ({ path }: AnyRoute) => Object.keys(unknown).filter((name) => path.includes(`{${name}}`));
const idsInQuery = (route: AnyRoute) =>
  route.media === 'json' ? Object.keys(unknown).filter((name) => queryNames(route).includes(name)) : [];

/** Everything of an answer that a caller can see, but the time. */
async function seenBy(
  tenant: string,
  route: AnyRoute,
  ids: { params?: Record<string, string>; query?: Record<string, string> },
) {
  const headers = { ...credentialsFor(route, tenant), 'x-request-id': 'the-same-id' };
  const body = route.body === undefined ? {} : { body: '{}' };
  const answer = await rawCall(test.kernel.url, { route, ...ids, ...body, headers });
  return { status: answer.status, text: answer.text, headers: [...answer.headers].filter(([name]) => name !== 'date') };
}

describe('tenants, over every tenant route of the contract', () => {
  verifies(
    'kn.tenants',
    'an id of another tenant in a path is answered byte for byte like one of nothing',
    async () => {
      const routes = addressed.filter((route) => idsInPath(route).length > 0);
      expect(routes.map(({ operation }) => operation)).toEqual(
        expect.arrayContaining(['get-receipt', 'get-record', 'verify-record', 'transition-approval']),
      );
      for (const route of routes) {
        const ofAnother = await seenBy('stranger', route, { params: foreign });
        expect([route.operation, ofAnother.status, ofAnother.text]).toEqual([
          route.operation,
          404,
          expect.stringContaining('"code":"NOT_FOUND"'),
        ]);
        expect(ofAnother).toEqual(await seenBy('stranger', route, { params: unknown }));
        expect((await seenBy('owner', route, { params: foreign })).status).not.toBe(404);
      }
    },
  );

  verifies(
    'kn.tenants',
    'an id of another tenant in a query is answered byte for byte like one of nothing',
    async () => {
      const cases = reading.flatMap((route) => idsInQuery(route).map((name) => ({ route, name })));
      expect(cases.length).toBeGreaterThan(5);
      for (const { route, name } of cases) {
        const ask = (tenant: string, ids: Record<string, string>) =>
          seenBy(tenant, route, { query: { [name]: ids[name] ?? '' } });
        const ofAnother = await ask('stranger', foreign);
        expect([route.operation, name, ofAnother]).toEqual([route.operation, name, await ask('stranger', unknown)]);
        expect([200, 404]).toContain(ofAnother.status);
        const ofOwner = await ask('owner', foreign);
        expect([route.operation, name, ofOwner.status, ofOwner.text === ofAnother.text]).toEqual([
          route.operation,
          name,
          200,
          false,
        ]);
      }
    },
  );

  verifies('kn.tenants', 'no list or description holds anything of another tenant', async () => {
    const traces = Object.values(foreign);
    for (const route of reading.filter((candidate) => idsInPath(candidate).length === 0)) {
      const { text } = await seenBy('stranger', route, {});
      expect([route.operation, traces.filter((trace) => text.includes(trace))]).toEqual([route.operation, []]);
    }
    const { text } = await seenBy('owner', routeOf('list-receipts'), {});
    expect(text).toContain(foreign['receipt_id']);
    expect((await seenBy('owner', routeOf('list-budgets'), {})).text).toContain(foreign['budget_id']);
  });

  it('a tenant id with wildcards or quotes is no pattern and no statement', async () => {
    for (const tenant of ['%', '*', "owner' OR '1'='1", 'owner%00']) {
      const { status, text } = await seenBy(tenant, routeOf('list-receipts'), {});
      expect([tenant, status, text.includes('rcp_')]).toEqual([tenant, 400, false]);
    }
  });
});
