import { describe, expect, it } from '@jest/globals';
import { Digest, reasonCodes, WorkspaceId } from '@countersign/contracts';
import { ComplianceFramework, type ComplianceReport } from '@countersign/contracts/commercial-gateway';
import { OrgId, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import { assembleReport } from '../src/compliance/assemble-report.ts';
import { catalogue } from '../src/compliance/catalogue.ts';
import { matchesReceipt } from '../src/compliance/frameworks/evidence-query.ts';
import { evidenceKindOf, evidenceKinds, type EvidenceName } from '../src/compliance/frameworks/evidence-kinds.ts';
import { EvidenceTally } from '../src/compliance/evidence-tally.ts';
import { oscalResults } from '../src/compliance/oscal-results.ts';
import { printReport } from '../src/compliance/print-report.ts';

const workspaceId = WorkspaceId.parse(`wsp_${'1'.repeat(26)}`);
const hashOf = (number: number) => Digest.parse(`sha256:${number.toString(16).padStart(64, '0')}`);
const names = Object.keys(evidenceKinds) as EvidenceName[]; // the keys of a constant

const receiptWith = (members: object = {}): ReceiptPayload =>
  ReceiptPayload.parse({
    ...{
      type: 'countersign.receipt.v1',
      receipt_id: `rcp_${'1'.repeat(26)}`,
      kind: 'decision',
      tenant_id: workspaceId,
    },
    ...{ principal_id: 'agent', session_id: 's', decision_id: `dec_${'1'.repeat(26)}`, record_hash: hashOf(0) },
    ...{ verdict: 'ALLOW', reason_code: 'ALLOWED', action: 'tool.call', tool: 'mail.send', resource: null },
    ...{ effect_level: 'E1', args_hash: hashOf(0), policy_hash: null, policy_epoch: 0, shadow: false },
    ...{ lamport_clock: 1, prev_hash: null, issued_at: '2026-10-01T00:00:00.000Z', ...members },
  });

function reportOf(tally: EvidenceTally, framework: ComplianceFramework = 'eu_ai_act'): ComplianceReport {
  const period = { from: '2026-10-01T00:00:00.000Z', to: '2026-11-01T00:00:00.000Z' };
  const question = { orgId: OrgId.parse(`org_${'1'.repeat(26)}`), framework, ...period };
  const digest = hashOf(1);
  const workspaces = [{ workspaceId, receipts: 1, unverifiable: 0, digest, place: null }];
  return assembleReport(question, { workspaces, audit: { entries: 0, verified: true }, chains: [], tally });
}

describe('the catalogue', () => {
  it('has unique controls with evidence, and every kind of evidence is used and has its own query', () => {
    for (const { controls } of Object.values(catalogue)) {
      expect(new Set(controls.map(({ id }) => id)).size).toBe(controls.length);
      expect(controls.every(({ evidence }) => evidence.length > 0)).toBe(true);
    }
    const used = new Set(Object.values(catalogue).flatMap(({ controls }) => controls.flatMap((one) => one.evidence)));
    expect(names.filter((name) => !used.has(name))).toEqual([]);
    expect(names.every((name) => evidenceKindOf(name).receipts ?? evidenceKindOf(name).audit)).toBeTruthy();
  });

  it('states that Article 12 requires automatic recording and that tamper evidence is an addition', () => {
    const [article] = catalogue.eu_ai_act.controls;
    expect(article).toMatchObject({ id: 'Art.12-1', asks: expect.stringContaining('automatic recording') });
    expect(article?.adds).toContain('not for tamper evidence');
  });

  it('counts no shadow decision, and no decision about an action that is named like a change of settings', () => {
    for (const name of names) {
      const { receipts } = evidenceKindOf(name);
      if (receipts !== undefined) expect(matchesReceipt(receipts, receiptWith({ shadow: true }))).toBe(false);
    }
    const stop = evidenceKindOf('stop_changes').receipts;
    expect(stop && matchesReceipt(stop, receiptWith({ action: 'fence.set' }))).toBe(false);
    expect(stop && matchesReceipt(stop, receiptWith({ kind: 'policy', action: 'fence.set' }))).toBe(true);
  });

  it('assigns each denial to the gate of its reason code', () => {
    const denials = names.filter((name) => name.endsWith('_denials'));
    for (const [reason_code, { gate, verdict }] of Object.entries(reasonCodes)) {
      if (verdict !== 'DENY') continue;
      const receipt = receiptWith({ verdict, reason_code });
      const found = denials.filter((name) => matchesReceipt({ kinds: [], ...evidenceKindOf(name).receipts }, receipt));
      const isCovered = !['request', 'policy', 'approval'].includes(gate);
      expect({ reason_code, found: found.length }).toEqual({ reason_code, found: isCovered ? 1 : 0 });
    }
  });
});

describe('a report', () => {
  it('cites the twenty lowest hashes in any order of the receipts, and each receipt once per control', () => {
    const numbers = Array.from({ length: 50 }, (_, index) => (index * 37) % 50);
    const tally = new EvidenceTally(catalogue.eu_ai_act, null);
    for (const number of numbers)
      tally.addReceipt(workspaceId, {
        payload: receiptWith({ verdict: 'DENY', reason_code: 'POLICY_DENIED' }),
        receipt_hash: hashOf(number),
      });
    const control = tally.controlOf('Art.12-2-a');
    expect(control.receipts).toBe(50);
    expect(control.citedReceipts.map(({ receipt_hash }) => receipt_hash)).toEqual(
      Array.from({ length: 20 }, (_, index) => hashOf(index)),
    );
  });

  it('marks a control as evidenced only without a gap', () => {
    const tally = new EvidenceTally(catalogue.eu_ai_act, null);
    tally.addReceipt(workspaceId, { payload: receiptWith(), receipt_hash: hashOf(1) });
    const statusOf = (id: string) => reportOf(tally).controls.find(({ control_id }) => control_id === id);
    expect(statusOf('Art.12-2-c')).toMatchObject({ status: 'evidenced', gaps: [] });
    expect(statusOf('Art.26-2')).toMatchObject({ status: 'no_evidence' });
    expect(statusOf('Art.12-1')).toMatchObject({ status: 'partial' });
    expect(statusOf('Art.12-1')?.gaps).toContain(evidenceKinds.outcomes.missing);
  });

  it('continues from a stored state with the same result as one uninterrupted count', () => {
    const [whole, begun] = [new EvidenceTally(catalogue.soc2, null), new EvidenceTally(catalogue.soc2, null)];
    const add = (tally: EvidenceTally, number: number) =>
      tally.addReceipt(workspaceId, { payload: receiptWith(), receipt_hash: hashOf(number) });
    for (const number of [1, 2, 3]) add(whole, number);
    add(begun, 3);
    const continued = new EvidenceTally(catalogue.soc2, structuredClone(begun.state));
    for (const number of [2, 1]) add(continued, number);
    expect(continued.state).toEqual(whole.state);
  });
});

/*
 * The members of assessment results that this service writes, with the constraints of the published OSCAL 1.1.3 schema.
 */
const Uuid = z
  .string()
  .regex(/^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[45][0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$/);
const Token = z.string().regex(/^(\p{L}|_)(\p{L}|\p{N}|[.\-_])*$/u);
const Line = z.string().regex(/^\S(.*\S)?$/);
const Time = z.iso.datetime({ offset: true });
const Props = z.array(z.strictObject({ name: Token, ns: z.url(), value: Line })).min(1);
const Observation = z.strictObject({
  ...{ uuid: Uuid, title: z.string(), description: z.string().min(1), props: Props, collected: Time },
  methods: z.array(z.enum(['EXAMINE', 'INTERVIEW', 'TEST', 'UNKNOWN'])).min(1),
  'relevant-evidence': z
    .array(z.strictObject({ description: z.string().min(1), props: Props }))
    .min(1)
    .optional(),
  remarks: z.string().min(1).optional(),
});
const AssessmentResults = z.strictObject({
  uuid: Uuid,
  metadata: z.strictObject({
    ...{ title: z.string().min(1), 'last-modified': Time, version: Line, 'oscal-version': z.literal('1.1.3') },
    remarks: z.string(),
  }),
  'import-ap': z.strictObject({ href: z.string().regex(/^#/), remarks: z.string() }),
  results: z
    .array(
      z.strictObject({
        ...{ uuid: Uuid, title: z.string(), description: z.string(), start: Time, end: Time, props: Props },
        'reviewed-controls': z.strictObject({
          'control-selections': z
            .array(z.strictObject({ 'include-controls': z.array(z.strictObject({ 'control-id': Token })).min(1) }))
            .min(1),
        }),
        observations: z.array(Observation).min(1),
      }),
    )
    .min(1),
  'back-matter': z.strictObject({
    resources: z.array(z.strictObject({ uuid: Uuid, title: z.string(), description: z.string() })).min(1),
  }),
});

describe.each(ComplianceFramework.options)('the other forms of a report of %s', (framework) => {
  const tally = new EvidenceTally(catalogue[framework], null);
  tally.addReceipt(workspaceId, { payload: receiptWith(), receipt_hash: hashOf(1) });
  const report = reportOf(tally, framework);

  it('follow the schema of OSCAL, refer only to objects that they contain, and contain no finding', () => {
    const results = AssessmentResults.parse(oscalResults(report)['assessment-results']);
    const uuids = [
      results.uuid,
      ...results.results.flatMap((one) => [one.uuid, ...one.observations.map((it) => it.uuid)]),
    ];
    expect(new Set(uuids).size).toBe(uuids.length);
    expect(results['import-ap'].href).toBe(`#${results['back-matter'].resources[0]?.uuid}`);
    expect(results.results[0]).not.toHaveProperty('findings');
  });

  it('print the contents of the report without scripts and external resources', () => {
    const page = printReport(report);
    for (const { control_id } of report.controls) expect(page).toContain(control_id);
    expect(page).toContain('This report certifies nothing.');
    expect(page).not.toMatch(/<script|<link|<img|<iframe|\son\w+=|src=|url\(/);
  });
});

it('the printed form of a report escapes its text', () => {
  const report = { ...reportOf(new EvidenceTally(catalogue.soc2, null), 'soc2'), title: '<script>alert(1)</script>' };
  expect(printReport(report)).not.toContain('<script>');
});
