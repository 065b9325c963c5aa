import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient } from '@countersign/contracts';
import { ConformanceVector, LiveVector, type SignedConformanceReport } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, decodeBase64Url, digestOf, parsePlainJson } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { verifies } from '@countersign/testkit/verifies';
import { parseKeySet } from '@countersign/verifier';
import { z } from 'zod';
import { findLastProven } from '../src/store/conformance-store.ts';
import { executeLive, type Site } from '../src/evidence/conformance/live.ts';
import { vectorFiles } from '../src/evidence/conformance/read-vectors.ts';
import { asAdministrator } from './_administrator.ts';
import { kernelConfigFrom, startKernel } from '../src/index.ts';
import { startConformanceSchedule } from '../src/workers/conformance-schedule.ts';
import { newSession } from './_caller.ts';
import { adminKey, kernelRoutes, poolOf, starterPolicy, type TestKernel } from './_kernel.ts';
import { statementsOf } from './_statements.ts';
import { ofNoTwin } from './_twins.ts';
import { seal } from './_seal.ts';
import { startUpstreams, type Upstreams } from './_upstreams.ts';
import { runConformance } from './_conformance.ts';

const folder = new URL('../../../contracts/vectors/conformance/', import.meta.url);

let upstreams: Upstreams;
let test: TestKernel;
let signed: SignedConformanceReport;
let before: string;
let after: string;
/** The numbers of calls that models and tools received until the first run ended. */
let sent: { toModels: number; toTools: number };

/** The rows of all tenants except `system` and the tenants of runs, as text. */
async function rowsOfOthers(): Promise<string> {
  const tables = ['ledger', 'policy_heads', 'policy_bundles', 'budgets', 'access_keys', 'approvals', 'tool_blocks'];
  const rows = tables.map(async (table) => {
    const { rows: snapshot } = await test.pool.query(
      `SELECT to_jsonb(t)::text AS row FROM ${table} t
        WHERE tenant_id NOT LIKE 'conformance:%' AND tenant_id <> 'system' ORDER BY 1`,
    );
    return [table, snapshot];
  });
  const fences = await test.pool.query(`SELECT to_jsonb(f)::text AS row FROM fences f ORDER BY 1`);
  return JSON.stringify([await Promise.all(rows), fences.rows]);
}

beforeAll(async () => {
  upstreams = await startUpstreams({ GOV_DEMO: '0' });
  test = upstreams.test;
  await test.activate('acme', starterPolicy);
  await test.setFence('tenant:fenced', 'freeze');
  await seal(test);
  before = await rowsOfOthers();
  signed = await run('full');
  after = await rowsOfOthers();
  sent = { toModels: upstreams.model.requests.length, toTools: upstreams.notes.calls.length };
});
afterAll(() => upstreams.close());

const run = (scope: 'full' | 'short') => runConformance(test, scope);

const anybody = () => createClient(kernelRoutes, { baseUrl: test.kernel.url });

describe('a full run', () => {
  verifies('kn.conformance', 'executes every vector and passes when every gate works', async () => {
    const { data } = (await anybody().listConformanceVectors()).body;
    const { results, verdict } = signed.report;
    expect(results.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    expect(results.map(({ vector_id }) => vector_id)).toEqual(data.map(({ id }) => id));
    expect([verdict, results.length]).toEqual(['PASS', signed.report.passed]);
    expect(sent).toEqual({ toModels: 0, toTools: 0 });
  });

  it('changes no row of another tenant and deletes its own settings', async () => {
    expect(after).toBe(before);
    const remaining = [
      'budgets',
      'access_keys',
      'approvals',
      'tool_blocks',
      'dispatches',
      'policy_ceilings',
      'approval_terms',
    ];
    for (const table of [...remaining, 'tenant_orgs']) {
      const { rows } = await test.pool.query(
        `SELECT 1 FROM ${table} WHERE tenant_id LIKE 'conformance:%' AND ${ofNoTwin}`,
      );
      expect([table, rows]).toEqual([table, []]);
    }
    const { rows } = await test.pool.query(`SELECT 1 FROM conformance_runs`);
    expect(rows).toEqual([]);
  });

  it('produces a signed report whose hash is sealed in its own receipt', async () => {
    const bytes = canonicalBytes(parsePlainJson(signed.report));
    expect(signed.report_hash).toBe(digestOf(nodeProvider, bytes));
    const { publicKey } = test.kernel.context.signers.receipts;
    expect(nodeProvider.verifyEd25519(publicKey, bytes, decodeBase64Url(signed.signature.value))).toBe(true);
    const system = test.as('system');
    const { payload } = (await system.getReceipt({ params: { receipt_id: signed.receipt_id } })).body;
    expect(payload).toMatchObject({ kind: 'conformance', action: 'conformance.run', args_hash: signed.report_hash });
    const { data } = (await system.listRecords({ query: { receipt_id: signed.receipt_id } })).body;
    expect(data[0]?.intent.facts).toMatchObject({ report_hash: signed.report_hash, verdict: 'PASS' });
  });

  it('is listed in pages of 200 reports, without reading their results from the database', async () => {
    const copied = 'verdict, ended_at, report, report_hash, signature, receipt_id';
    await test.pool.query(`INSERT INTO conformance_reports (report_id, ${copied})
      SELECT 'cfr_' || lpad(n::text, 26, '0'), ${copied} FROM generate_series(1, 210) AS n, (SELECT * FROM conformance_reports LIMIT 1) AS r`);
    const list = async (query: object) => (await test.as('acme').listConformanceReports({ query })).body;
    let first = { data: [] as unknown[], next_cursor: null as string | null };
    const sent = await statementsOf(poolOf(test.kernel), async () => void (first = await list({ limit: 200 })));
    expect(first.data).toHaveLength(200);
    const ofResults = 200 * JSON.stringify(signed.report.results).length;
    expect(sent.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(ofResults / 10);
    expect((await list({ limit: 200, cursor: first.next_cursor })).data.at(-1)?.report_id).toBe(
      signed.report.report_id,
    );
    await test.pool.query(`DELETE FROM conformance_reports WHERE report_id LIKE 'cfr_00000000%'`);
  });

  it('is stored, listed without its results, and returned as it was signed', async () => {
    const { report_id } = signed.report;
    const { data } = (await test.as('acme').listConformanceReports({ query: {} })).body;
    expect(data.map((each) => [each.report_id, each.verdict, 'results' in each])).toContainEqual([
      report_id,
      'PASS',
      false,
    ]);
    expect((await test.as('acme').getConformanceReport({ params: { report_id } })).body).toEqual(signed);
    const params = { report_id: 'cfr_01ARZ3NDEKTSV4RRFFQ69G5FAV' } as never; // no report has this id
    await expect(test.as('acme').getConformanceReport({ params })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('does not make a kernel ready with the policies of conformance tenants', async () => {
    const old = `UPDATE policy_heads SET confirmed_at = now() - interval '9 days'`;
    await asAdministrator(test, `${old} WHERE tenant_id NOT LIKE 'conformance:%' AND ${ofNoTwin}`);
    const ready = await fetch(`${test.kernel.healthUrl}/health/ready`);
    expect(await ready.json()).toMatchObject({ checks: { policy: 'down', conformance: 'up' } });
  });
});

describe('the next run', () => {
  it('passes despite leftover rows of earlier runs, and its credential ends with the run', async () => {
    await asAdministrator(
      test,
      `INSERT INTO tool_blocks (tenant_id, version, tools, updated_at)
         VALUES ('conformance:identity.key', 9, '{conformance-caller.read}', now())`,
    );
    const { runCredential } = test.kernel.context;
    const issue = runCredential.issue.bind(runCredential);
    let secret = '';
    runCredential.issue = () => (secret = issue());
    const again = await run('full');
    runCredential.issue = issue;
    expect(again.report.results.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    expect([secret.startsWith('cft_'), runCredential.isPresented(secret)]).toEqual([true, false]);
  });
});

describe('the vectors', () => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const written = vectorFiles.flatMap((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as unknown[]);

  it('are public and equal to the files', async () => {
    expect([...vectorFiles].sort()).toEqual(files.sort());
    const { data, vectors_hash } = (await anybody().listConformanceVectors()).body;
    expect(data).toEqual(z.array(ConformanceVector).parse(written));
    expect(vectors_hash).toBe(signed.report.vectors_hash);
    expect(vectors_hash).toBe(digestOf(nodeProvider, canonicalBytes(parsePlainJson(JSON.parse(JSON.stringify(data))))));
    const negative = (await anybody().listNegativeVectors()).body;
    expect(negative.data).toEqual(data.filter(({ set }) => set === 'negative'));
    expect(negative.data.length).toBeLessThan(data.length);
  });

  it('cover the cases in which a kernel must fail closed', async () => {
    const { data } = (await anybody().listNegativeVectors()).body;
    const ids: string[] = data.map(({ id }) => id);
    expect(ids).toEqual(
      expect.arrayContaining([
        'fault.policy-missing',
        'fault.policy-stale',
        'fault.pdp-throws',
        'fault.snapshot-stale',
        'fault.credentials-missing',
        'fault.arguments-malformed',
        'fault.schema-drift',
        'fault.upstream-bypass',
        'fault.sandbox-overgrant',
        'fault.egress-blocked',
        'fault.receipt-store-away',
        'door.evaluate-no-rule',
      ]),
    );
  });
});

describe('a live vector', () => {
  const ofNotes = LiveVector.parse({
    ...{ id: 'test.executes', set: 'positive', title: 'A call that is executed', description: 'None may be.' },
    ...{ gates: [], surface: 'live', given: { rules: [] } },
    steps: [
      {
        ...{ do: 'call', door: 'execute', body: { tool: 'notes.read_note', args: { id: 'a' } } },
        expect: { status: 200, verdict: 'ALLOW', reason_code: 'ALLOWED' },
      },
    ],
  });
  const faultUnder = async (changes: Partial<Site>) => {
    const { context, url } = test.kernel;
    const { keys } = (await anybody().listTrustKeys()).body;
    const site: Site = {
      ...{ url, token: adminKey, provider: context.provider, trust: parseKeySet({ keys }), stranger: 'globex' },
      ...{ countOpenCalls: async () => 0, signal: new AbortController().signal },
      ...changes,
    };
    await test.activate('executing', starterPolicy);
    const arranged = { tenant: 'executing', keys: new Map<string, string>(), session: newSession() } as never; // plain strings instead of branded ones
    return (await executeLive(site, ofNotes, arranged)).fault;
  };

  it('fails when a call was executed upstream', async () => {
    expect(await faultUnder({})).toBe('something was executed upstream');
  });

  it('fails when its answers were sealed by an untrusted key', async () => {
    expect(await faultUnder({ trust: [] })).toContain('is not trusted to sign receipts');
  });
});

describe('the tenants of a run', () => {
  const tenant = 'conformance:door.evaluate-no-rule';
  const body = { action: 'tool.call', tool: 'conformance-caller.read', session_id: 's' } as never; // the kernel fills in the defaults

  it('refuse all writes of operators, but can be read', async () => {
    const refused = { code: 'PERMISSION_DENIED' };
    await expect(test.as(tenant).evaluate({ body })).rejects.toMatchObject(refused);
    const key = { kind: 'agent', principal_id: 'mallory' } as never;
    await expect(test.as(tenant).createAccessKey({ body: key })).rejects.toMatchObject(refused);
    const terms = { subject: 'tenant', window: 'total', tool_call_limit: 1 } as never;
    const params = { budget_id: 'mine' } as never;
    await expect(test.as(tenant).putBudget({ params, body: terms })).rejects.toMatchObject(refused);
    expect((await test.as(tenant).listReceipts({ query: {} })).body.data.length).toBeGreaterThan(0);
  });

  it('accept the credential of a run, which is valid for no other tenant and ends with the run', async () => {
    const { runCredential } = test.kernel.context;
    const secret = runCredential.issue();
    const call = (named: string) =>
      fetch(`${test.kernel.url}/api/v1/evaluate`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${secret}`,
          'x-gov-tenant-id': named,
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
      }).then(({ status }) => status);
    expect([await call(tenant), await call('acme')]).toEqual([200, 403]);
    const run = await fetch(`${test.kernel.url}/api/v1/conformance/run`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(run.status).toBe(401);
    runCredential.end();
    expect(await call(tenant)).toBe(401);
  });
});

describe('runs at the same time', () => {
  it('are refused: a second replica can start a run only after the first run has ended', async () => {
    const second = await startKernel(kernelConfigFrom(test.env));
    const [left, right] = await Promise.allSettled([run('short'), runConformance({ kernel: second }, 'short')]);
    await second.stop();
    const statuses = [left.status, right.status].sort();
    expect(statuses).toEqual(['fulfilled', 'rejected']);
    const refused = left.status === 'rejected' ? left : right;
    expect(refused).toMatchObject({ reason: { code: 'ILLEGAL_TRANSITION' } });
    expect((await run('short')).report.verdict).toBe('PASS');
  });

  it('are not blocked permanently by a run that died', async () => {
    const dead = (age: string) =>
      asAdministrator(
        test,
        `INSERT INTO conformance_runs VALUES (1, 'cfr_dead', now() - interval '${age}')
           ON CONFLICT (slot) DO UPDATE SET started_at = excluded.started_at`,
      );
    await dead('1 minute');
    await expect(run('short')).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
    await dead('5 minutes');
    expect((await run('short')).report.verdict).toBe('PASS');
  });
});

describe('the schedule', () => {
  const hourMs = 3_600_000;
  const startMs = Date.parse('2026-01-01T00:00:00.000Z');

  /**
   * The times in `agesMs` at which the schedule started a run. All times count from the start of the schedule.
   * `lastRunMs` is the time of the last run of any replica.
   */
  async function runsAt(agesMs: number[], lastRunMs: number | null): Promise<number[]> {
    let ageMs = 0;
    const runs: number[] = [];
    const schedule = startConformanceSchedule({
      run: async () => {
        runs.push(ageMs);
        return signed;
      },
      lastRunAt: async () => (lastRunMs === null ? null : new Date(startMs + lastRunMs)),
      clock: () => new Date(startMs + ageMs),
      clockGuard: test.kernel.context.clockGuard,
      log: test.kernel.context.log,
      intervalMs: hourMs,
    });
    for (const age of agesMs) {
      ageMs = age;
      await schedule.run();
    }
    await schedule.close();
    return runs;
  }

  it('starts a run one interval after the last run of any replica, and not before', async () => {
    expect(await runsAt([0, hourMs - 1, hourMs], null)).toEqual([hourMs]);
    expect(await runsAt([hourMs, 2 * hourMs - 1, 2 * hourMs], hourMs)).toEqual([2 * hourMs]);
  });

  it('starts nothing right after a run', async () => {
    const count = async () => (await test.as('acme').listConformanceReports({ query: {} })).body.data.length;
    const had = await count();
    await test.kernel.workers.conformance.run();
    expect(await count()).toBe(had);
    expect(await findLastProven(test.kernel.context.reader)).not.toBeNull();
  });
});
