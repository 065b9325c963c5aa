import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { AnyRoute, ApprovalId, BudgetId, SessionId } from '@countersign/contracts';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { verifies } from '@countersign/testkit/verifies';
import { countDecisions } from '../src/store/decision-count-store.ts';
import { TestAgent } from './_agents.ts';
import { openEvents, type EventReader } from './_event-source.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { allRoutes, credentialsFor, rawCall } from './_raw.ts';
import { Recorder } from './_recorder.ts';
import { seal } from './_seal.ts';

const unknownUlid = '01ARZ3NDEKTSV4RRFFQ69G5FAV';

let test: TestKernel;
/**
 * IDs of objects of the owner, by the names that routes use. `unknown` contains IDs of no object, by the same names.
 */
let foreign: Record<string, string>;
const unknown: Record<string, string> = {
  receipt_id: `rcp_${unknownUlid}`,
  record_id: `rec_${unknownUlid}`,
  approval_id: `apr_${unknownUlid}`,
  budget_id: 'no-budget',
  principal: 'no-principal',
  kid: 'A'.repeat(43),
  session_id: 'no-session',
  host_chain_id: `hch_${unknownUlid}`,
  agent: 'no-agent',
};
beforeEach(async () => {
  test = await startTestKernel();
  await test.activate('*', starterPolicy);
  foreign = await ownersThings();
});
afterEach(() => test.close());

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
  await countDecisions(test.kernel.context.transaction);
  const signer = new TestAgent(test, { tenant: 'owner', principal: 'owners-signer' });
  await signer.enrol(test);
  const chain = new Recorder().chain('owners-chain', [
    { at: test.kernel.context.clock().getTime(), host: 'x.example' },
  ]);
  const { host_chain_id } = (await test.as('owner').importHostChain({ query: {}, body: { chain, keys: [] } })).body;
  return {
    host_chain_id,
    principal: signer.principal,
    kid: signer.kid,
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

/** Routes that read, or that act on an existing object. PUT is omitted, because it creates an object of the caller. */
const addressed = allRoutes.filter(({ auth, method }) => auth === 'tenant_scoped' && method !== 'PUT');
const reading = addressed.filter(({ method, media }) => method === 'GET' && media === 'json');

function queryNames({ query }: AnyRoute): string[] {
  const shape: unknown = query !== undefined && 'shape' in query ? query.shape : null;
  return typeof shape === 'object' && shape !== null ? Object.keys(shape) : [];
}

/**
 * The names of the IDs in a path. The principal in passkey routes is left out, because it is not the ID of a stored
 * object.
 */
const idsInPath = ({ path }: AnyRoute) =>
  path.includes('/webauthn') ? [] : Object.keys(unknown).filter((name) => path.includes(`{${name}}`));
const idsInQuery = (route: AnyRoute) =>
  route.media === 'json' ? Object.keys(unknown).filter((name) => queryNames(route).includes(name)) : [];

/** Bodies for routes that would reject an empty body before they look up anything. */
const bodies: Record<string, object> = {
  'enrol-identity-key': { proof: 'none' },
  'assert-approval': {
    challenge_id: `wch_${unknownUlid}`,
    assertion: {
      ...{ id: 'AAAA', rawId: 'AAAA', type: 'public-key' },
      response: { clientDataJSON: 'AAAA', authenticatorData: 'AAAA', signature: 'AAAA' },
    },
  },
};

/** Everything in an answer that a caller can see, except the time. */
async function seenBy(
  tenant: string,
  route: AnyRoute,
  ids: { params?: Record<string, string>; query?: Record<string, string> },
) {
  const headers = { ...credentialsFor(route, tenant), 'x-request-id': 'the-same-id' };
  const body = route.body === undefined ? {} : { body: JSON.stringify(bodies[route.operation] ?? {}) };
  const answer = await rawCall(test.kernel.url, { route, ...ids, ...body, headers });
  return { status: answer.status, text: answer.text, headers: [...answer.headers].filter(([name]) => name !== 'date') };
}

describe('all tenant routes of the contract', () => {
  verifies('kn.tenants', 'answer an ID of another tenant in a path exactly like an unknown ID', async () => {
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
  });

  verifies('kn.tenants', 'answer an ID of another tenant in a query exactly like an unknown ID', async () => {
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
  });

  verifies('kn.tenants', 'list and describe nothing of another tenant', async () => {
    const traces = Object.values(foreign);
    for (const route of reading.filter((candidate) => idsInPath(candidate).length === 0)) {
      const { text } = await seenBy('stranger', route, {});
      expect([route.operation, traces.filter((trace) => text.includes(trace))]).toEqual([route.operation, []]);
    }
    const { text } = await seenBy('owner', routeOf('list-receipts'), {});
    expect(text).toContain(foreign['receipt_id']);
    expect((await seenBy('owner', routeOf('list-budgets'), {})).text).toContain(foreign['budget_id']);
  });

  verifies('kn.tenants', 'find nothing of another tenant that uses the same names', async () => {
    const { session_id, agent = '', approval_id } = foreign as Record<string, string> & { session_id: SessionId };
    const twin = { tenant: 'twin', principal: agent, session_id, tool: 'pay.send' };
    const reply = await seal(test, twin);
    expect([reply.lamport_clock, reply.receipt.payload.prev_hash, reply.budget]).toEqual([1, null, undefined]);
    expect(reply.approval?.approval_id).not.toBe(approval_id);
    const { record_id } = reply;
    const { body: report } = await test.as('twin').verifyRecord({ params: { record_id } });
    expect(report.checks.filter(({ passed }) => !passed)).toEqual([]);
    const { body: chain } = await test.as('twin').exportReceipts({ query: { session_id } });
    const tenants = chain.flatMap((line) => ('receipt' in line ? [line.receipt.payload.tenant_id] : []));
    expect(tenants).toEqual(['twin']);
    const grants = [approval_id, unknown['approval_id']].map(async (grant) => {
      const { verdict, reason_code, reason, trace } = await seal(test, {
        ...twin,
        approval_grant: grant as ApprovalId,
      });
      return { verdict, reason_code, reason, trace };
    });
    const [ofAnother, ofNobody] = await Promise.all(grants);
    expect(ofAnother).toEqual(ofNobody);
    expect(ofAnother?.verdict).toBe('DENY');
  });

  verifies('kn.tenants', 'stream nothing of another tenant, live or after a resume', async () => {
    const { session_id = '', agent = '' } = foreign;
    const url = `${test.kernel.url}/api/v1/receipts/tail?${new URLSearchParams({ session_id, agent }).toString()}`;
    const open = (lastEventId: string) =>
      openEvents(url, { ...credentialsFor(routeOf('tail-receipts'), 'twin'), 'last-event-id': lastEventId });
    const sealAs = (tenant: string) => seal(test, { tenant, principal: agent, session_id: session_id as SessionId });
    const next = async (reader: EventReader) => {
      for (;;) {
        const event = await reader.next();
        if (event === null) throw new Error('the stream ended');
        if (event.event === 'receipt') return { id: event.id ?? '', receipt: JSON.parse(event.data) as StoredReceipt };
      }
    };
    const live = await open('');
    await sealAs('owner');
    const first = await sealAs('twin');
    const seen = await next(live);
    expect(seen.receipt).toEqual(first.receipt);
    live.cut();
    await sealAs('owner');
    const second = await sealAs('twin');
    const resumed = await open(seen.id);
    expect((await next(resumed)).receipt).toEqual(second.receipt);
    resumed.cut();
  });

  it('reject a tenant ID with wildcards or quotes', async () => {
    for (const tenant of ['%', '*', "owner' OR '1'='1", 'owner%00']) {
      const { status, text } = await seenBy(tenant, routeOf('list-receipts'), {});
      expect([tenant, status, text.includes('rcp_')]).toEqual([tenant, 400, false]);
    }
  });
});
