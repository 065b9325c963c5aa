import * as kernel from '@countersign/contracts/governance-kernel';
import { members, type Ask } from './_ask.ts';

export async function askProofs(ask: Ask): Promise<void> {
  const checkpoint = await ask(kernel.createCheckpoint);
  await ask(kernel.listCheckpoints);
  await ask(kernel.verifyCheckpoint, { params: { checkpoint_id: checkpoint['checkpoint_id'] ?? '' } });
  await ask(kernel.getLatestCheckpoint);
  const { data } = await ask(kernel.listReceipts, { query: { limit: 1 } });
  const receipt = members(data[0]?.['payload']);
  await ask(kernel.getInclusionProof, { query: { receipt_id: receipt['receipt_id'] ?? '' } });
  await ask(kernel.getConsistencyProof, { query: { from: 1, to: checkpoint['tree_size'] ?? 1 } });
  await ask(kernel.listTrustKeys);
  for (const route of [kernel.getBoundaryStatus, kernel.listBoundaryTargets]) await ask(route);
  await ask(kernel.listBoundaryCapabilities);
  for (const route of [kernel.getConsoleBootstrap, kernel.listConsoleSurfaces]) await ask(route);
  await ask(kernel.getConsoleSurface, { params: { surface_id: 'budgets' } });
  for (const route of [kernel.getOtelConfig, kernel.getCoexistenceCapabilities]) await ask(route);
  const exported = { tenant_id: 'acme', receipt_ids: [receipt['receipt_id']] };
  await ask(kernel.exportTelemetry, { body: exported });
}

export async function askConformance(ask: Ask): Promise<void> {
  const { report } = await ask(kernel.runConformance, { body: { scope: 'short' } });
  await ask(kernel.listConformanceReports);
  await ask(kernel.getConformanceReport, { params: { report_id: members(report)['report_id'] ?? '' } });
  await ask(kernel.listConformanceVectors);
  await ask(kernel.listNegativeVectors);
}

export async function askDemo(ask: Ask): Promise<void> {
  const ran = await ask(kernel.runDemo, { body: { action_id: 'read_ticket' } });
  const { payload, signature } = members(ran['receipt']);
  const proof = { receipt: { payload, signature }, expected_receipt_hash: ran['receipt_hash'] };
  await ask(kernel.verifyDemo, { body: proof });
  await ask(kernel.tamperDemo, { body: proof });
}

/** Of the session `s1`, and of one receipt in it. */
export async function askEvidence(ask: Ask, receipt_hash: string): Promise<void> {
  await ask(kernel.exportEvidence, { body: { sessions: ['s1'] } });
  await ask(kernel.verifyEvidence, { body: { evidence: '{}' } });
  await ask(kernel.verifyReplay, { body: { evidence: '{}' } });
  await ask(kernel.listGraphSessions);
  await ask(kernel.listGraphReceipts, { params: { session_id: 's1' } });
  await ask(kernel.getGraphReceipt, { params: { receipt_hash } });
}
