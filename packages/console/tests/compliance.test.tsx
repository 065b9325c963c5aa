import { at, stage, userId } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { screen, waitFor, within } from '@testing-library/react';
import {
  createComplianceReport,
  getComplianceReport,
  listComplianceReports,
} from '@countersign/contracts/commercial-gateway';
import { CompliancePage } from '../src/compliance/compliance-page.tsx';
import { answersOrg, orgId, otherWorkspaceId, receiptId } from './_commercial.ts';

const reportId = 'cpr_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const hash = `sha256:${'a'.repeat(64)}`;
const period = { from: '2026-10-01T00:00:00.000Z', to: '2026-11-01T00:00:00.000Z' };
const summary = {
  ...{ report_id: reportId, org_id: orgId, framework: 'soc2', ...period, state: 'running', receipts_read: 1_200 },
  ...{ requested_by: userId, created_at: at, finished_at: null, failure: null, report_hash: null },
};
const control = {
  ...{ control_id: 'CC6.1', title: 'Logical access', asks: 'Access is restricted.', adds: 'Each action is decided.' },
  ...{ status: 'partial', receipts: 2, audit_entries: 0, cited_audit_entries: [] },
  evidence: [{ name: 'denials', shows: 'Denied calls', receipts: 2, audit_entries: 0 }],
  cited_receipts: [{ workspace_id: otherWorkspaceId, receipt_id: receiptId, receipt_hash: hash }],
  gaps: ['Receipts do not show access of people to systems behind the boundary.'],
};
const none = {
  ...control,
  ...{ control_id: 'CC7.1', title: 'Detection', status: 'no_evidence', receipts: 0, cited_receipts: [] },
};
const report = {
  ...{ type: 'countersign.compliance.v1', framework: 'soc2', title: 'SOC 2', catalogue_version: 1, org_id: orgId },
  ...{ ...period, disclaimer: 'This report certifies nothing.', citation_rule: 'The lowest hashes are cited.' },
  workspaces: [{ workspace_id: otherWorkspaceId, receipts: 2, unverifiable: 1, receipts_digest: hash }],
  ...{ audit_chain: { entries: 3, verified: true }, totals: { evidenced: 0, partial: 1, no_evidence: 1 } },
  ...{ controls: [control, none], report_hash: hash },
};
const done = { ...summary, state: 'done', finished_at: at, report_hash: hash, report };

function atCompliance({ path = '/compliance', polls = false } = {}) {
  const here = stage({ polls });
  answersOrg(here.peer);
  here.peer.answers(listComplianceReports, { data: [], next_cursor: null });
  here.peer.answers(getComplianceReport, { ...summary, report: null });
  here.show(<CompliancePage />, { path });
  return here;
}

describe('compliance reports', () => {
  it('are created from the empty page, for whole days that are over', async () => {
    const { peer, user } = atCompliance();
    await screen.findByRole('heading', { name: 'No reports yet' });
    peer.answers(createComplianceReport, summary);
    await user.click(screen.getByRole('button', { name: 'Make a report' }));
    const dialog = within(await screen.findByRole('dialog'));
    await user.selectOptions(dialog.getByLabelText('Framework'), 'EU AI Act');
    await user.click(dialog.getByRole('button', { name: 'Make a report' }));
    await waitFor(() => expect(peer.requests(createComplianceReport)).toHaveLength(1));
    const body = peer.requests(createComplianceReport)[0]?.body as { from: string; to: string; framework: string };
    expect(body.framework).toBe('eu_ai_act');
    expect((Date.parse(body.to) - Date.parse(body.from)) / 86_400_000).toBe(30);
    expect(Date.parse(body.to)).toBeLessThanOrEqual(Date.now());
  });

  it('need a plan that includes them, and a refusal names the next step', async () => {
    const { peer, user } = atCompliance();
    peer.refuses(createComplianceReport, 'ENTITLEMENT_REQUIRED', 'The plan free does not include compliance reports');
    await user.click(await screen.findByRole('button', { name: 'Make a report' }));
    await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Make a report' }));
    await screen.findByText('The plan free does not include compliance reports');
    expect(screen.getByText(/^Choose a plan that includes it/)).toBeTruthy();
  });

  it('show their progress until they are ready, and then each control with its count, gap and receipts', async () => {
    const { peer } = atCompliance({ path: `/compliance/${reportId}`, polls: true });
    await screen.findByText(/^1,200 receipts read so far/);
    expect(screen.queryByRole('link', { name: 'Download JSON' })).toBeNull();
    peer.answers(getComplianceReport, done);
    await screen.findByText('0 evidenced, 1 partial, 1 without evidence');
    expect(screen.getByText('This report certifies nothing.')).toBeTruthy();
    expect(screen.getByText(/1 do not verify and are not counted/)).toBeTruthy();
    const [partial, missing] = screen.getAllByRole('group');
    expect(partial?.querySelector('summary')?.textContent).toBe('CC6.1Logical access2 receiptsPartial');
    expect(missing?.querySelector('summary')?.textContent).toBe('CC7.1Detection0 receiptsNo evidence');
    expect(within(partial as HTMLElement).getByText(control.gaps[0] ?? '')).toBeTruthy();
    const link = within(partial as HTMLElement).getByText(receiptId);
    expect(link.getAttribute('href')).toBe(`/console/activity/${receiptId}?workspace=${otherWorkspaceId}`);
    const oscal = screen.getByRole('link', { name: 'Download OSCAL' }).getAttribute('href');
    expect(oscal).toBe(`/api/commercial/compliance/reports/${reportId}?org_id=${orgId}&format=oscal`);
  });
});
