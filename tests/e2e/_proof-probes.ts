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
  await ask(kernel.getTlogProof, { query: { receipt_id: receipt['receipt_id'] ?? '' } });
  await ask(kernel.getConsistencyProof, { query: { from: 1, to: checkpoint['tree_size'] ?? 1 } });
  await ask(kernel.listTrustKeys);
  const period = { from: new Date(Date.now() - 3_600_000).toISOString(), to: new Date().toISOString() };
  await ask(kernel.getDecisionStats, { query: { ...period, bucket: '5m', by: 'verdict' } });
  await ask(kernel.deleteDecisionStats);
  const agents = await ask(kernel.listSeenAgents);
  await ask(kernel.getSeenAgent, { params: { principal: members(agents['data'][0])['principal_id'] ?? '' } });
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

/** Calls the routes for evidence of the session `s1`, and of one receipt in it. */
export async function askEvidence(ask: Ask, receipt_hash: string): Promise<void> {
  await ask(kernel.exportEvidence, { body: { sessions: ['s1'] } });
  const wrapped = { envelope: 'sigstore', native_evidence_hash: receipt_hash };
  const params = { manifest_id: String((await ask(kernel.createEnvelope, { body: wrapped }))['manifest_id']) };
  await ask(kernel.listEnvelopes);
  await ask(kernel.getEnvelope, { params });
  await ask(kernel.getEnvelopePayload, { params });
  await ask(kernel.verifyEnvelope, { params, body: {} });
  await ask(kernel.listEvidenceKeys);
  const { host_chain_id } = await ask(kernel.importHostChain, { body: { chain: recorded() } });
  await ask(kernel.getHostChain, { params: { host_chain_id: String(host_chain_id) } });
  await ask(kernel.listHostDrift);
  await ask(kernel.verifyEvidence, { body: { evidence: '{}' } });
  await ask(kernel.verifyReplay, { body: { evidence: '{}' } });
  await ask(kernel.listGraphSessions);
  await ask(kernel.listGraphReceipts, { params: { session_id: 's1' } });
  await ask(kernel.getGraphReceipt, { params: { receipt_hash } });
}

/** A chain of a recorder with one receipt, whose hash is wrong. */
function recorded() {
  const receipt = {
    ...{ receipt_id: 'event-1', host_id: 'host-1', prev_receipt_hash: null, subject: { session_id: 's1' } },
    receipt_hash: `sha256:${'0'.repeat(64)}`,
    event: {
      ...{ kind: 'network_egress', observed_at: new Date().toISOString(), destination_host: 'api.example' },
      ...{ destination_port: 443, protocol: 'tcp', bytes_sent: 1, bytes_received: 1 },
    },
  };
  const source = { vendor: 'example', profile: 'ebpf-egress' };
  return { schema_version: 'countersign/host-chain.v1', chain_id: 'host-1', source, receipts: [receipt] };
}
