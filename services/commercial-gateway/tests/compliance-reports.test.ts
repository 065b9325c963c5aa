import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Instant, UserId, WorkspaceId } from '@countersign/contracts';
import type { ComplianceFramework, ComplianceReportDetails } from '@countersign/contracts/commercial-gateway';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { canonicalize } from '@countersign/crypto';
import { reaching, until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import pg from 'pg';
import { findOrg } from '../src/store/orgs.ts';
import { startCommercialSite, type CommercialClient, type CommercialSite } from './_commercial.ts';
import { instant, ScriptedLedger } from './_ledger.ts';

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
    // The meter reads the same ledger, and this file counts the pages of the report.
    meterMs: 3_600_000,
    env: { GOV_INSTALLATION_ADMINS: operator, GOV_BASE_PLAN: 'free', GOV_GOVERNANCE_URL: ledger.url },
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

/** October in two workspaces, with receipts before and after it, and one that does not verify. The third workspace has 1,200 receipts. */
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

/** An assertion lasts a minute, and tests move the clock. */
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

/** The bytes of a report that is requested, or requested again after its row was lost. */
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
    'a control without receipts is no_evidence, each cited receipt verifies, and the same period gives the same bytes',
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
      // Later receipts, later entries and a later day change nothing in a period that is over.
      ledger.append(first, { issued_at: instant(periodStart + 40 * dayMs) });
      nowMs += dayMs;
      await forget();
      const again = await build();
      expect(again.report_id).not.toBe(built.report_id);
      expect(canonicalize(again.report ?? {})).toBe(canonicalize(report));
    },
  );

  it('is the same report for an equal request', async () => {
    const built = await build({ framework: 'soc2' });
    expect((await request({ framework: 'soc2' })).body).toMatchObject({ report_id: built.report_id, state: 'done' });
    const { body } = await (await ownClient()).listComplianceReports({ query: { org_id: orgId } });
    expect(body.data.map(({ report_id }) => report_id)).toContain(built.report_id);
  });

  it('continues at its last checkpoint after an outage of the kernel, and ends as if there had been none', async () => {
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
        // The back-off begins when the refusal is noted, which may be after any one move of the clock.
        nowMs += 10_000;
        return read(report_id, orgOf('3'));
      },
      ({ state }) => state === 'done',
    );
    expect(ledger.reads[0]).toBe(500);
    expect(done.receipts_read).toBe(1_200);
    expect(done.report).toEqual(whole);
  });

  it('counts no audit entry when the chain was changed', async () => {
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

  it('is a page without scripts and assessment results of OSCAL, each with the same bytes twice', async () => {
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

/** Changes the first entry of the chain as only the owner of the database can. */
async function changeAuditEntry(): Promise<void> {
  const database = new pg.Client({ connectionString: site.database.adminUrl, options: '-c search_path=commercial' });
  await database.connect();
  await database
    .query(`UPDATE audit_entries SET actor = 'intruder' WHERE scope = $1 AND seq = 1`, [orgId])
    .finally(() => database.end());
}

describe('a request of a report', () => {
  it.each([
    ['of more than 366 days', { from: '2025-10-01T00:00:00.000Z', to: '2026-10-02T00:00:00.001Z' }],
    ['of a period that is not over', { to: '2027-09-01T00:00:00.000Z' }],
    ['of an empty period', { from: october.to, to: october.to }],
  ])('%s is refused', async (_, period) => {
    await expect(request(period)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('of a leap year is accepted', async () => {
    const leap = { framework: 'owasp_agentic_2026', from: '2024-01-01T00:00:00.000Z', to: '2025-01-01T00:00:00.000Z' };
    expect((await request(leap as Question)).body.state).toBe('queued');
  });

  it('needs a plan with compliance reports; reading one does not', async () => {
    const other = await site.as(stranger);
    const body = { org_id: orgOf('2'), framework: 'soc2', ...october } as const;
    const refusal = { code: 'ENTITLEMENT_REQUIRED', details: { upgrade: null } };
    await expect(other.createComplianceReport({ body })).rejects.toMatchObject(refusal);
    expect((await other.listComplianceReports({ query: { org_id: orgOf('2') } })).body.data).toEqual([]);
  });

  it('of another organisation finds nothing, also by the id of its report', async () => {
    const { report_id } = (await request({ framework: 'soc2' })).body;
    const other = await site.as(stranger);
    const query = { org_id: orgOf('2') };
    await expect(other.getComplianceReport({ params: { report_id }, query })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});
