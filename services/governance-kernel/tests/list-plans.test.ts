import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AnyRoute, Instant, SessionId } from '@countersign/contracts';
import type { DecisionReply } from '@countersign/contracts/governance-kernel';
import { explainStatements, findGrowingReads, recordPlans, type PlanRecorder } from '@countersign/database/testing';
import { messagingTransaction, OutboxRelay } from '@countersign/messaging';
import { z } from 'zod';
import { cursorOf } from '../src/evidence/receipts/cursor.ts';
import { hasSignedOfChain } from '../src/store/chain-store.ts';
import { countPeriod, hasSignedOfPeriod, listParts, listPeriod } from '../src/store/period-store.ts';
import { listSimilarApprovals } from '../src/store/similar-approvals.ts';
import { asAdministrator } from './_administrator.ts';
import { decideAndDie, spawnedAgent } from './_dispatched.ts';
import { runConformance } from './_conformance.ts';
import { openEvents } from './_event-source.ts';
import { busy, denied, fillHistory, hostChains, instantOf, longSession, rare, rows } from './_filled.ts';
import { newEvidenceKey } from './_evidence-key.ts';
import { adminKey, kernelRoutes, starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { change, check } from './_relations.ts';
import { Recorder } from './_recorder.ts';
import { newSession, seal, sealMany } from './_seal.ts';

/** The limits per statement: enough for a page and a few tiles of the log, and far below the size of the history. */
const bound = { rows: 2_500, pages: 2_500 };

/** The limits for a batch of the relay. Each row is found and written, with its entries in three indexes. */
const ofBatch = { rows: 2_500, pages: 10_000 };

let test: TestKernel;
let recorder: PlanRecorder;
let sealed: DecisionReply;
let checkpointId: string;

beforeAll(async () => {
  test = await startTestKernel({
    env: { GOV_EVIDENCE_KEY: newEvidenceKey() },
    twins: false,
    unverified: 'its rows are written by hand',
  });
  await test.activate('*', starterPolicy);
  sealed = await seal(test, { tenant: busy });
  checkpointId = (await test.as(busy).createCheckpoint()).body.checkpoint_id;
  await fillHistory(test);
  await explainStatements(test.database);
  await test.restart({ periodReceiptsMax });
  recorder = recordPlans(test.pool);
});
afterAll(() => test.close());

/** A limit that the busy tenant exceeds. The production limit would need a much longer history. */
const periodReceiptsMax = 20_000;

/** Log indexes in the filled log. */
const [middle, late] = [rows.ledger / 2, (rows.ledger * 3) / 4];

type Input = { params?: object; query?: Record<string, unknown>; body?: object };

/** Values for each filter: some that few rows have, and some that most rows have. */
const values: Record<string, unknown[]> = {
  session_id: [rare.session_id, longSession],
  agent: [rare.principal_id, 'agent-1'],
  verdict: [rare.verdict, 'DENY', 'ALLOW'],
  reason_code: [rare.reason_code, 'ALLOWED', 'EGRESS_BLOCKED'],
  tool: [rare.tool, 'tool-1', 'no.such'],
  action: [rare.action, 'tool.call'],
  kind: [rare.kind, 'decision', 'outcome', 'drift'],
  from: [instantOf(900), instantOf(rows.ledger - 1_000)],
  to: [instantOf(2_500), instantOf(900_000)],
  state: ['revoked', 'pending', 'expired', 'consumed'],
  receipt_id: ['rcp_00000000000000000000001005'],
  approval_id: ['apr_00000000000000000000001005'],
  omit: ['args'],
  lamport_clock: [3],
  search: ['server'],
  updated_since: [instantOf(1)],
  version: ['latest'],
  include_deleted: ['false'],
};

/** Values for filters that accept other values in one list than in all others, by the name of that list. */
const valuesOf: Record<string, typeof values> = {
  listHostDrift: {
    kind: ['after_deny', 'without_intent'],
    host_chain_id: [hostChains.few, hostChains.many],
  },
};

/** The path parameters of lists that belong to an owner. */
const owners: Record<string, object> = {
  listPasskeys: { principal: 'agent-1' },
  listGraphReceipts: { session_id: longSession },
};
/** The query members that a list requires. */
const needed: Record<string, object> = { listAuthProfiles: { tenant_id: busy } };

const routes = Object.entries(kernelRoutes) as [string, AnyRoute][]; // each route has its own type
const gets = routes.filter(([, { method, media }]) => method === 'GET' && media === 'json');
const membersOf = ({ query }: AnyRoute) => (query instanceof z.ZodObject ? Object.keys(query.shape) : []);
const filtersOf = (route: AnyRoute) =>
  membersOf(route).filter((name) => !['tenant_id', 'limit', 'cursor'].includes(name));
const lists = gets.filter(([, route]) => membersOf(route).includes('cursor'));

const valuesIn = (name: string) => ({ ...values, ...valuesOf[name] });

/** Every filter with each of its values, and every pair of filters. */
function queriesOf(name: string, route: AnyRoute): Record<string, unknown>[] {
  const filters = filtersOf(route);
  const values = valuesIn(name);
  const single = filters.flatMap((name) => (values[name] ?? []).map((value) => ({ [name]: value })));
  const pairs = filters.flatMap((name, at) =>
    filters.slice(at + 1).map((candidate) => ({ [name]: values[name]?.[0], [candidate]: values[candidate]?.[0] })),
  );
  return [{}, ...single, ...pairs];
}

async function ask(name: string, input: Input, tenant = busy): Promise<{ next_cursor?: string | null }> {
  const isInternal = routes.some(([of, { auth }]) => of === name && auth === 'service_internal');
  const call = Reflect.get(isInternal ? test.system : test.as(tenant), name) as (
    input: Input,
  ) => Promise<{ body: object }>; // every member of a client is a function
  return (await call(input)).body;
}

const read = { action: 'tool.call', tool: 'files.read', effect_level: 'E1' };

/** Makes a call that the kernel dispatches, with a reservation in a budget, and settles it. */
async function settleCall(): Promise<void> {
  const { boundary } = test.kernel.context;
  const call = spawnedAgent({ tenant: busy, principal: 'p2', session: longSession as SessionId });
  const decision = await decideAndDie(boundary, call);
  expect([decision.reply.verdict, decision.reserved]).toEqual(['ALLOW', ['budget-2']]);
  await boundary.settle(decision, { outcome: 'completed' });
}

async function vote({ approval }: DecisionReply): Promise<void> {
  const { rows: found } = await test.pool.query<{ ceremony_hash: string }>(
    'SELECT ceremony_hash FROM approvals WHERE approval_id = $1',
    [approval?.approval_id],
  );
  const params = { approval_id: approval?.approval_id, action: 'approve' };
  const headers = { 'if-match': `"${found[0]?.ceremony_hash}"` };
  await test.as(busy, 'alice').transitionApproval({ params, body: {}, headers } as never); // plain strings instead of branded ones
}

async function sealKeyed(key: string): Promise<void> {
  const body = { ...read, session_id: longSession } as never; // the kernel fills in the defaults
  await test.as(busy).evaluate({ body, headers: { 'idempotency-key': key } });
}

async function expectFlat(work: () => Promise<unknown>, most = bound): Promise<void> {
  const plans = await recorder.during(work);
  expect(plans.length).toBeGreaterThan(0);
  expect(await findGrowingReads(test.database, plans, most)).toEqual([]);
}

describe('on a long history', () => {
  it.each(lists)('%s reads no more than a page, for every filter', async (name, route) => {
    const filters = filtersOf(route);
    const owner = name in owners ? { params: owners[name] } : {};
    expect(filters.filter((filter) => valuesIn(name)[filter] === undefined)).toEqual([]);
    await expectFlat(async () => {
      for (const query of queriesOf(name, route)) {
        // `lamport_clock` needs a session.
        const session = 'lamport_clock' in query ? { session_id: longSession } : {};
        const whole = { ...needed[name], ...session, ...query };
        const { next_cursor } = await ask(name, { ...owner, query: whole });
        if (next_cursor) await ask(name, { ...owner, query: { ...whole, cursor: next_cursor } });
      }
      await ask(name, { ...owner, query: { ...needed[name], limit: 200 } });
    });
  });

  it('a search for an ALLOW among many denials reads little', async () => {
    await expectFlat(async () => {
      for (const query of [{ verdict: 'ALLOW' }, { reason_code: 'ALLOWED' }]) {
        const { body } = await test.as(denied).listReceipts({ query: query as never }); // both queries match the schema
        expect(body.data.length).toBeGreaterThan(0);
      }
    });
  });

  it('every lookup reads only what it returns', async () => {
    const { receipt_id, record_id } = sealed;
    const ran = await runConformance(test, 'short');
    const reportId = ran.report.report_id;
    const ceilings = { version: 1, rules: [], set_by: 'olga' } as never; // plain strings instead of branded ones
    await test.system.putPolicyCeilings({ params: { tenant: busy }, body: ceilings });
    const snapshot_id = `snp_${String(rows.others).padStart(26, '0')}`;
    const server = { server_id: 'server-7', url: 'https://mcp.example/mcp' };
    await test.as(busy).registerMcpServer({ query: {}, body: server });
    const shell = { subject: { tool: 'shell.run' }, expires_in_seconds: 60 } as never; // the schema fills in the defaults
    const { grant_id } = (await test.as(busy).createSandboxGrant({ query: {}, body: shell })).body;
    const { policy_hash } = (await test.system.getPolicyInForce({ params: { tenant: busy } })).body;
    const wrapped = { envelope: 'dsse', native_evidence_hash: sealed.receipt_hash } as never; // the schema fills in the defaults
    const { manifest_id } = (await test.as(busy).createEnvelope({ body: wrapped })).body;
    const chain = new Recorder().chain('c', [{ at: Date.now(), host: 'x.example' }]);
    const { host_chain_id } = (await test.as(busy).importHostChain({ query: {}, body: { chain, keys: [] } })).body;
    const lookups: Record<string, Input> = {
      getReceipt: { params: { receipt_id } },
      getRecord: { params: { record_id } },
      exportReceipts: { query: { session_id: longSession, from_lamport_clock: middle, limit: 20 } },
      getGraphReceipt: { params: { receipt_hash: sealed.receipt_hash } },
      getInclusionProof: { query: { receipt_id } },
      getTlogProof: { query: { receipt_id } },
      getConsistencyProof: { query: { from: 1_000, to: late } },
      getConformanceReport: { params: { report_id: reportId } },
      getFence: { params: { scope: 'tenant:tenant-7' } },
      getBudget: { params: { tenant: busy, budget_id: 'budget-2' } },
      getPolicyCeilings: { params: { tenant: busy } },
      getPolicyInForce: { params: { tenant: busy } },
      getPolicyBundle: { params: { tenant: busy, policy_hash } },
      listLedgerEntries: { params: { tenant: busy }, query: { below: late, limit: 50 } },
      listMeteredReceipts: { params: { tenant: busy }, query: { from: middle, limit: 50 } },
      listSubjectRelations: { params: { tenant: busy }, query: { subject: 'user:user-7' } },
      getAuthzHealth: {},
      getRelationSnapshot: { params: { snapshot_id } },
      getLatestCheckpoint: {},
      ...{ getReadiness: {}, getBoundaryStatus: {}, listBoundaryTargets: {} },
      getConsoleBootstrap: {},
      listConsoleSurfaces: {},
      getConsoleSurface: { params: { surface_id: 'approvals' } },
      listTrustKeys: {},
      getMcpServer: { params: { server_id: 'server-7' } },
      inspectSandboxGrant: { query: { tool: 'tool-7' } },
      getSandboxGrant: { params: { grant_id } },
      getApprovalContext: { params: { approval_id: 'apr_00000000000000000000001005' } },
      getEnvelope: { params: { manifest_id } },
      getEnvelopePayload: { params: { manifest_id } },
      getHostChain: { params: { host_chain_id } },
      listEvidenceKeys: {},
      getAgentUiInfo: {},
      getAgUiInfo: {},
    };
    /** These routes read the counters of their period, which are fewer than its calls. */
    const ofPeriods: Record<string, Input> = {
      getDecisionStats: { query: { from: instantOf(0), to: instantOf(rows.ledger), by: 'tool' } },
      listSeenAgents: {},
      getSeenAgent: { params: { principal: 'agent-7' } },
    };
    const withoutStore = [
      'getOpenApi',
      // Without a trust root, the trust list reads nothing. With a trust root, it reads eight rows of an index.
      'getTrustList',
      'getHealth',
      'getLiveness',
      'getHealthz',
      'getAuthzenConfiguration',
      'healthz',
      'version',
      'getVersion',
      'listMcpCapabilities',
      'listSandboxProfiles',
      'describeMcp',
      'getOauthProtectedResource',
      'listModels',
      'getModel',
      'listConformanceVectors',
      'listNegativeVectors',
      'getOtelConfig',
      'listBoundaryCapabilities',
      'getCoexistenceCapabilities',
    ];
    const remaining = gets.map(([name]) => name).filter((name) => !lists.some(([list]) => list === name));
    expect(
      remaining.filter((name) => !(name in lookups) && !(name in ofPeriods) && !withoutStore.includes(name)),
    ).toEqual([]);
    for (const [name, input] of Object.entries(lookups)) await expectFlat(() => ask(name, input));
    const most = { rows: 10_000, pages: 10_000 };
    for (const [name, input] of Object.entries(ofPeriods)) await expectFlat(() => ask(name, input), most);
    // The filled approvals were requested at the epoch. Those of another agent are not read.
    const request = {
      tenant: busy,
      id: 'apr_0',
      requestedBy: 'nobody',
      action: 'tool.call',
      tool: 'pay.send',
    } as never; // plain strings
    const ofNobody = () => listSimilarApprovals(test.kernel.context.reader, request, new Date(30 * 86_400_000));
    await expectFlat(async () => expect(await ofNobody()).toEqual([]));
    const onwards = { params: { tenant: busy }, query: { from: middle, below: late, limit: 50 } };
    await expectFlat(() => ask('listLedgerEntries', onwards));
  });

  it('exports read page by page on separate connections, and a period that is too long is refused at once', async () => {
    const { exports } = test.kernel.context;
    const ofExports = recordPlans(exports.pool);
    const scope = { tenant: busy, from: instantOf(middle), to: instantOf(middle + 1_000), below: late } as never; // matches the schema
    const period = (from: number, to: number) => ({ query: { from: instantOf(from), to: instantOf(to) } as never }); // as above
    const pieces = Array.from({ length: 16 }, (_, nth) => ({
      session: (nth % 2 === 0 ? longSession : `session-${middle / 20 + nth}`) as SessionId, // as above
      lamport: middle + 20 * nth,
    }));
    const chain = { tenant: busy, session: longSession, from: middle, to: middle + 10_000 } as never; // as above
    const nothing = { keyId: 'none', below: late };
    const after = { issuedAt: instantOf(middle) as Instant, logIndex: -1 }; // as above
    const plans = await ofExports.during(async () => {
      // After a few executions PostgreSQL may use a generic plan, which is tested too.
      for (let turn = 0; turn < 7; turn += 1) {
        expect(await listParts(exports.reader, scope, { pieces, limit: 16 })).toHaveLength(16);
        expect((await listPeriod(exports.reader, scope, { after, limit: 500 })).length).toBe(500);
        expect((await countPeriod(exports.reader, scope, 500)).receipts).toBe(500);
        expect(await hasSignedOfPeriod(exports.reader, scope, nothing)).toBe(false);
        expect(await hasSignedOfChain(exports.reader, chain, nothing)).toBe(false);
        expect((await test.as(busy).exportReceipts(period(900_000, 901_000))).body).toHaveLength(2);
      }
      await ask('exportReceipts', { query: { session_id: longSession, from_lamport_clock: middle, limit: 2 } });
      await ask('exportEvidence', { body: { leaves: { from: middle, to: middle + 20 } } });
      await ask('exportEvidence', { body: { issued: { from: instantOf(900_000), to: instantOf(901_000) } } });
      await ask('exportEvidence', { body: { sessions: [rare.session_id] } });
    });
    expect(plans.length).toBeGreaterThan(42);
    expect(await findGrowingReads(test.database, plans, bound)).toEqual([]);
    const tooLong = test.as(busy).exportReceipts(period(0, rows.ledger));
    await expect(tooLong).rejects.toMatchObject({ code: 'INVALID_REQUEST', param: 'to' });
  });

  it('verifications, checkpoints and the workers read only what is new or due', async () => {
    const { workers } = test.kernel;
    await expectFlat(async () => {
      await ask('verifyRecord', { params: { record_id: sealed.record_id } });
      await ask('verifyCheckpoint', { params: { checkpoint_id: checkpointId } });
      await seal(test);
      await test.as(busy).createCheckpoint();
      await workers.housekeeper.run();
      await workers.reconciler.run();
      await fetch(`${test.kernel.healthUrl}/health/ready`);
    });
  });

  it('every statement of a batch finds its rows by key, with cached facts and under locks', async () => {
    await expectFlat(async () => {
      await settleCall();
      const call = { tenant: busy, tool: 'pay.send', session_id: longSession as SessionId }; // matches the schema
      const escalated = await Promise.all([seal(test, call), seal(test, { ...call, session_id: newSession() })]);
      const asking = {
        body: { action: 'tool.call', tool: 'pay.all', args: {}, session_id: longSession, reason: 'soon' },
      };
      await test.as(busy, 'agent').createApproval(asking as never); // the kernel fills in the defaults
      await vote(escalated[0]);
      await seal(test, { ...call, approval_grant: escalated[0].approval?.approval_id });
      for (const key of ['once', 'twice', 'twice']) await sealKeyed(key);
      await test.activate(busy, starterPolicy);
      await sealMany(test, 40, { tenant: busy, session_id: longSession as SessionId });
    });
  });

  it('a check reads one tuple of many, and a change of relations reads only the tuples that it names', async () => {
    const tuples = ['document:42#viewer@group:g#member', 'group:g#member@user:1'];
    await expectFlat(async () => {
      await change(test, busy, { writes: tuples, entities: [{ entity: 'user:1', properties: { a: 1 } }] });
      expect(await check(test.as(busy), 'document:42#viewer@user:1')).toMatchObject({ decision: true });
      await change(test, busy, { deletes: tuples });
      await change(test, busy, {});
    });
  });

  it('a relay reads only the next messages of a backlog', async () => {
    const { pool } = test;
    const { bus, transaction } = test.kernel.context;
    const unsent = 'SELECT 1 FROM outbox WHERE sent_at IS NULL LIMIT 1';
    await expectFlat(async () => {
      // A relay that starts here also deletes old messages.
      const relay = new OutboxRelay({ bus, transaction: messagingTransaction(transaction) });
      relay.start();
      await asAdministrator(
        test,
        `INSERT INTO outbox (id, type, envelope) SELECT 'unsent-' || n, 'test', '{}' FROM generate_series(1, 10000) n`,
      );
      while ((await pool.query(unsent)).rowCount !== 0) relay.poke();
      await relay.stop();
    }, ofBatch);
  });

  it('a tail that resumes after a long time reads page by page, even with a rare filter', async () => {
    const since = cursorOf(test.kernel.context.provider, { list: 'tail', tenant: busy }, [0, 0]);
    const headers = { authorization: `Bearer ${adminKey}`, 'x-gov-tenant-id': busy };
    const scopes = ['', `&session_id=${rare.session_id}`, `&agent=${rare.principal_id}`, `&session_id=${longSession}`];
    await expectFlat(async () => {
      // After a few executions PostgreSQL may use a generic plan, which is tested too.
      for (const scope of [...scopes, ...scopes, ...scopes, ...scopes, ...scopes, ...scopes, ...scopes]) {
        const events = await openEvents(`${test.kernel.url}/api/v1/receipts/tail?since=${since}${scope}`, headers);
        expect((await events.next())?.event).toBe('receipt');
        events.cut();
      }
    });
  });

  it('a filter without its index is detected', async () => {
    const { rows: indexes } = await test.pool.query<{ indexdef: string }>(
      `SELECT indexdef FROM pg_indexes WHERE schemaname = 'kernel' AND indexname = 'ledger_tool'`,
    );
    await asAdministrator(test, 'DROP INDEX ledger_tool');
    try {
      const plans = await recorder.during(() => ask('listReceipts', { query: { tool: rare.tool } }));
      expect(await findGrowingReads(test.database, plans, bound)).not.toEqual([]);
    } finally {
      await asAdministrator(test, indexes[0]?.indexdef ?? '');
    }
  });
});
