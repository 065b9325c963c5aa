import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Instant, UserId, WorkspaceId } from '@countersign/contracts';
import type { ComplianceFramework, ComplianceReportDetails } from '@countersign/contracts/commercial-gateway';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { canonicalize } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { reaching, until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { auditHash } from '@countersign/verifier';
import pg from 'pg';
import { findOrg } from '../src/store/orgs.ts';
import { startCommercialSite, type CommercialClient, type CommercialSite } from './_commercial.ts';
import { instant, ScriptedLedger, trustRoot } from './_ledger.ts';

const dayMs = 86_400_000;
const userOf = (mark: string) => UserId.parse(`usr_${mark.repeat(26)}`);
const orgOf = (mark: string) => OrgId.parse(`org_${mark.repeat(26)}`);
const workspaceOf = (mark: string) => WorkspaceId.parse(`wsp_${mark.repeat(26)}`);
const [owner, stranger, operator] = [userOf('1'), userOf('2'), userOf('3')];
const orgId = orgOf('1');
const [first, second, large] = [workspaceOf('1'), workspaceOf('2'), workspaceOf('3')];
const periodStart = Date.parse('2026-10-01T00:00:00.000Z');
const october = { from: Instant.parse(instant(periodStart)), to: Instant.parse(instant(periodStart + 31 * dayMs)) };

const ledger = new ScriptedLedger();
let nowMs = Date.parse('2026-11-20T12:00:00.000Z');
let site: CommercialSite;

beforeAll(async () => {
  await ledger.listen();
  fillLedger();
  const org = (mark: string, admin_id: UserId) => ({
    ...{ org_id: orgOf(mark), name: `Org ${mark}`, admin_id },
    created_at: Instant.parse('2026-01-01T00:00:00.000Z'),
  });
  const added_at = Instant.parse('2026-01-01T00:00:00.000Z');
  const late = { workspace_id: workspaceOf('4'), org_id: orgId, added_at: october.to };
  site = await startCommercialSite({
    now: () => new Date(nowMs),
    // The receipt meter reads the same ledger. It is slowed down, so that this test counts only the pages of the
    // report.
    meterMs: 3_600_000,
    env: {
      GOV_INSTALLATION_ADMINS: operator,
      GOV_BASE_PLAN: 'free',
      GOV_GOVERNANCE_URL: ledger.url,
      GOV_TRUST_ROOT: trustRoot,
    },
    before: ({ orgs, workspaces }) => {
      orgs.push(org('1', owner), org('2', stranger), org('3', owner));
      workspaces.push({ workspace_id: first, org_id: orgId, added_at });
      workspaces.push({ workspace_id: second, org_id: orgId, added_at });
      workspaces.push({ workspace_id: large, org_id: orgOf('3'), added_at }, late);
    },
  });
  const { reader } = site.gateway.context.database;
  await until(async () => (await findOrg(reader, orgOf('3'))) !== null && (await reader.orgWorkspace.count()) === 4);
  for (const mark of ['1', '3']) {
    const override = {
      limits: {},
      capabilities: ['compliance' as const],
      expires_at: Instant.parse(instant(nowMs + 300 * dayMs)),
    };
    const body = { suspension: null, override };
    await (await site.as(operator)).putOrgSettings({ params: { org_id: orgOf(mark) }, body });
  }
});
afterAll(async () => {
  await site?.stop();
  await ledger.close();
});

/**
 * Fills October of two workspaces, with receipts before and after the month, and one receipt that does not verify. A
 * third workspace gets 1,200 receipts.
 */
function fillLedger(): void {
  const at = (hours: number) => ({ issued_at: instant(periodStart + hours * 3_600_000) });
  for (let hour = -60; hour < 0; hour += 1) ledger.append(first, at(hour));
  for (let hour = 0; hour < 30; hour += 1) ledger.append(first, at(hour));
  ledger.append(first, { ...at(31), verdict: 'DENY', reason_code: 'SYSTEM_FROZEN' });
  ledger.append(first, { ...at(32), kind: 'policy', action: 'fence.set', tool: null });
  ledger.append(first, { ...at(33), shadow: true, verdict: 'DENY', reason_code: 'POLICY_DENIED' });
  ledger.append(first, { ...at(34), verdict: 'ALLOW' }, { verdict: 'DENY' });
  ledger.append(second, {
    ...at(35),
    kind: 'outcome',
    outcome: 'completed',
  });
  ledger.append(second, at(31 * 24));
  for (let minute = 0; minute < 1_200; minute += 1) ledger.append(large, at(minute / 60));
}

/** Returns a new client, because tests move the clock and an assertion is valid for only one minute. */
const ownClient = (): Promise<CommercialClient> => site.as(owner);

type Question = { org_id?: OrgId; framework?: ComplianceFramework; from?: string; to?: string };

async function request({ org_id = orgId, framework = 'eu_ai_act', ...period }: Question = {}) {
  const client = await ownClient();
  return client.createComplianceReport({ body: { org_id, framework, ...october, ...period } });
}

async function read(report_id: string, org_id = orgId): Promise<ComplianceReportDetails> {
  const client = await ownClient();
  return (await client.getComplianceReport({ params: { report_id }, query: { org_id } })).body;
}

/** Requests a report and waits until it is done. */
async function build(question: Question = {}): Promise<ComplianceReportDetails> {
  const { body } = await request(question);
  return reaching(
    () => read(body.report_id, question.org_id),
    ({ state }) => state === 'done',
  );
}

const forget = () => site.gateway.context.transaction((tx) => tx.complianceReport.deleteMany({ where: { orgId } }));

async function textOf(report_id: string, format: string): Promise<{ text: string; headers: Headers }> {
  const url = `${site.gateway.url}/api/commercial/compliance/reports/${report_id}?org_id=${orgId}&format=${format}`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${await site.tokenOf(owner)}` } });
  return { text: await response.text(), headers: response.headers };
}

const controlOf = ({ report }: ComplianceReportDetails, id: string) =>
  report?.controls.find(({ control_id }) => control_id === id);

describe('a compliance report', () => {
  verifies(
    'cg.compliance',
    'marks a control without receipts as no_evidence, cites only receipts that verify, and has the same bytes for the same period',
    async () => {
      const built = await build();
      const { report } = built;
      if (report === null) throw new Error('The report is done and has no contents');
      expect(report.workspaces).toMatchObject([
        { workspace_id: first, receipts: 33, unverifiable: 1 },
        { workspace_id: second, receipts: 1, unverifiable: 0 },
      ]);
      expect(controlOf(built, 'Art.14-4-d')).toMatchObject({ status: 'no_evidence', receipts: 0, cited_receipts: [] });
      expect(controlOf(built, 'Art.12-2-c')).toMatchObject({ status: 'partial', receipts: 31 });
      expect(controlOf(built, 'Art.14-4-e')).toMatchObject({
        receipts: 2,
        evidence: [{ receipts: 1 }, { receipts: 1 }],
      });
      const cited = report.controls.flatMap(({ cited_receipts }) => cited_receipts);
      expect(Math.max(...report.controls.map(({ cited_receipts }) => cited_receipts.length))).toBe(20);
      expect(cited.every(({ receipt_hash }) => ledger.isSealed(receipt_hash))).toBe(true);
      const hashes = controlOf(built, 'Art.12-2-c')?.cited_receipts.map(({ receipt_hash }) => receipt_hash) ?? [];
      expect(hashes).toEqual(
        ledger.lowestHashes(first, ({ kind, shadow }) => kind === 'decision' && shadow === false, october),
      );
      expect(report.disclaimer).toContain('certifies nothing');
      // Later receipts, later entries and a later day do not change the report of an ended period.
      ledger.append(first, { issued_at: instant(periodStart + 40 * dayMs) });
      nowMs += dayMs;
      await forget();
      const again = await build();
      expect(again.report_id).not.toBe(built.report_id);
      expect(canonicalize(again.report ?? {})).toBe(canonicalize(report));
    },
  );

  verifies('kn.trust', 'counts no receipt whose key a newer trust list revokes, without a restart', async () => {
    expect((await build()).report?.workspaces).toMatchObject([{ unverifiable: 1 }, { unverifiable: 0 }]);
    ledger.revokeFrom(instant(periodStart));
    await forget();
    const { report } = await build();
    expect(report?.workspaces).toMatchObject([
      { receipts: 0, unverifiable: 34 },
      { receipts: 0, unverifiable: 1 },
    ]);
    ledger.revokeFrom(null);
    await forget();
  });

  it('is reused for an equal request', async () => {
    const built = await build({ framework: 'soc2' });
    expect((await request({ framework: 'soc2' })).body).toMatchObject({ report_id: built.report_id, state: 'done' });
    const { body } = await (await ownClient()).listComplianceReports({ query: { org_id: orgId } });
    expect(body.data.map(({ report_id }) => report_id)).toContain(built.report_id);
  });

  it('continues at its last checkpoint after an outage of the kernel, with the same bytes as without an outage', async () => {
    const question = { org_id: orgOf('3') };
    const whole = (await build(question)).report;
    await site.gateway.context.transaction((tx) => tx.complianceReport.deleteMany({ where: { orgId: orgOf('3') } }));
    ledger.pagesLeft = 7;
    ledger.reads.length = 0;
    const { report_id } = (await request(question)).body;
    await reaching(
      () => read(report_id, orgOf('3')),
      ({ receipts_read }) => receipts_read === 500,
    );
    await until(() => ledger.reads.length === 7 && ledger.refusals > 0);
    ledger.pagesLeft = null;
    ledger.reads.length = 0;
    const done = await reaching(
      () => {
        // The clock moves in each attempt, because the back-off can begin after any of the moves.
        nowMs += 10_000;
        return read(report_id, orgOf('3'));
      },
      ({ state }) => state === 'done',
    );
    expect(ledger.reads[0]).toBe(500);
    expect(done.receipts_read).toBe(1_200);
    expect(done.report).toEqual(whole);
  });

  it('counts no audit entry of a changed chain', async () => {
    const to = Instant.parse(instant(nowMs + 1));
    nowMs += 2 * 3_600_000;
    const question = { framework: 'nist_ai_rmf', from: instant(nowMs - 60 * dayMs), to } as const;
    const before = await build(question);
    expect(before.report?.audit_chain).toMatchObject({ verified: true });
    expect(controlOf(before, 'MANAGE-4.3')).toMatchObject({ audit_entries: 1, cited_audit_entries: [{ seq: 1 }] });
    await changeAuditEntry();
    await forget();
    const after = await build(question);
    expect(after.report?.audit_chain).toEqual({ entries: 0, verified: false });
    expect(controlOf(after, 'MANAGE-4.3')).toMatchObject({ audit_entries: 0, cited_audit_entries: [] });
  });

  it('counts the entries of each workspace at the gateway and the control plane, except those of a changed chain', async () => {
    const [early, inPeriod] = [periodStart - 1, periodStart + dayMs];
    const ofGateway = chainOf({ workspaceId: first }, [
      { action: 'member.joined', createdAt: instant(early) },
      { action: 'member.removed', createdAt: instant(inPeriod) },
      { action: 'task.created', createdAt: instant(inPeriod) },
      { action: 'api_key.created', createdAt: instant(inPeriod) },
      { action: 'incident.moved', createdAt: instant(inPeriod) },
    ]);
    const ofControlPlane = chainOf({ scope: first }, [{ action: 'incident.moved', created_at: instant(inPeriod) }]);
    const { auditChains } = site.directory;
    auditChains.set(`/internal/workspaces/${first}/audit`, ofGateway);
    auditChains.set(`/internal/audit-chains/${first}`, ofControlPlane);
    await forget();
    const built = await build({ framework: 'soc2' });
    const sums = (id: string) => controlOf(built, id)?.evidence.map(({ audit_entries }) => audit_entries);
    expect([sums('CC6.2'), sums('CC7.4')]).toEqual([
      [0, 0, 0, 2],
      [0, 0, 1],
    ]);
    const chain = { service: 'control-plane', workspace_id: first };
    expect(controlOf(built, 'CC7.4')?.cited_audit_entries).toEqual([{ seq: 1, hash: ofControlPlane[0]?.hash, chain }]);
    expect(built.report?.workspace_audit_chains).toEqual([
      { service: 'gateway', workspace_id: first, entries: 4, verified: true },
      { ...chain, entries: 1, verified: true },
      { service: 'gateway', workspace_id: second, entries: 0, verified: true },
      { service: 'control-plane', workspace_id: second, entries: 0, verified: true },
    ]);
    expect((await textOf(built.report_id, 'print')).text).toContain('Audit chains of the workspaces');
    auditChains.set(
      `/internal/workspaces/${first}/audit`,
      ofGateway.map((entry) => (entry.seq === 4 ? { ...entry, actor: 'intruder' } : entry)),
    );
    await forget();
    const after = await build({ framework: 'soc2' });
    expect(after.report?.workspace_audit_chains?.[0]).toMatchObject({ entries: 0, verified: false });
    expect(controlOf(after, 'CC6.2')).toMatchObject({
      audit_entries: 0,
      gaps: expect.arrayContaining([
        expect.stringContaining(`chain of ${first} at the gateway is missing or does not`),
      ]),
    });
    expect(controlOf(after, 'CC7.4')).toMatchObject({ audit_entries: 1 });
    auditChains.clear();
    await forget();
  });

  it('can be read as a page without scripts and as OSCAL assessment results, with the same bytes in each request', async () => {
    const { report_id, report } = await build({ framework: 'iso42001' });
    const print = await textOf(report_id, 'print');
    expect(print.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(print.text).not.toMatch(/<script|javascript:|<link|<img/);
    expect(print.text).toContain(report?.report_hash);
    const oscal = await textOf(report_id, 'oscal');
    expect(JSON.parse(oscal.text)).toHaveProperty('assessment-results.results.0.observations');
    expect((await textOf(report_id, 'oscal')).text).toBe(oscal.text);
    expect((await textOf(report_id, 'print')).text).toBe(print.text);
  });
});

/** Returns a chain as its service hashes it. Only the gateway uses members in camel case. */
function chainOf(owner: Record<string, string>, acts: Record<string, string>[]) {
  let previous: string | null = null;
  return acts.map((act, index) => {
    const facts = { id: `aud_${index}`, seq: index + 1, actor: 'ada', verdict: 'allow', reason: '', subject: null };
    const link: Record<string, string | null> =
      'scope' in owner ? { request_id: null, prev_hash: previous } : { requestId: null, prevHash: previous };
    const content = { ...facts, details: {}, ...owner, ...act, ...link };
    const hash = auditHash(nodeProvider, content);
    previous = hash;
    return { ...content, hash };
  });
}

/** Changes the first entry of the chain, which only the owner of the database can do. */
async function changeAuditEntry(): Promise<void> {
  const database = new pg.Client({ connectionString: site.database.adminUrl, options: '-c search_path=commercial' });
  await database.connect();
  await database
    .query(`UPDATE audit_entries SET actor = 'intruder' WHERE scope = $1 AND seq = 1`, [orgId])
    .finally(() => database.end());
}

describe('a request for a report', () => {
  it.each([
    ['of more than 366 days', { from: '2025-10-01T00:00:00.000Z', to: '2026-10-02T00:00:00.001Z' }],
    ['of a period that has not ended', { to: '2027-09-01T00:00:00.000Z' }],
    ['of an empty period', { from: october.to, to: october.to }],
  ])('%s is refused', async (_, period) => {
    await expect(request(period)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('for a leap year is accepted', async () => {
    const leap = { framework: 'owasp_agentic_2026', from: '2024-01-01T00:00:00.000Z', to: '2025-01-01T00:00:00.000Z' };
    expect((await request(leap as Question)).body.state).toBe('queued');
  });

  it('needs a plan with compliance reports, and reading a report does not', async () => {
    const another = await site.as(stranger);
    const body = { org_id: orgOf('2'), framework: 'soc2', ...october } as const;
    const refusal = { code: 'ENTITLEMENT_REQUIRED', details: { upgrade: null } };
    await expect(another.createComplianceReport({ body })).rejects.toMatchObject(refusal);
    expect((await another.listComplianceReports({ query: { org_id: orgOf('2') } })).body.data).toEqual([]);
  });

  it('returns NOT_FOUND for the report of another organisation', async () => {
    const { report_id } = (await request({ framework: 'soc2' })).body;
    const another = await site.as(stranger);
    const query = { org_id: orgOf('2') };
    await expect(another.getComplianceReport({ params: { report_id }, query })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});
