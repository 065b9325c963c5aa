import * as kernel from '@countersign/contracts/governance-kernel';
import type { Ask } from './_ask.ts';
import { askRelations } from './_relation-probes.ts';

/** Calls the kernel's routes for sibling services: what a tenant may do, what it may spend, and what stops it. */
export async function askControls(ask: Ask, headers: Record<string, string>): Promise<void> {
  await ask(kernel.putToolBlocks, {
    params: { tenant: 'acme' },
    body: { version: 1, tools: ['crm.delete'] },
    headers,
  });
  const member = { user_id: 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV', role: 'owner' };
  await ask(kernel.putMembers, {
    params: { tenant: 'wsp_01ARZ3NDEKTSV4RRFFQ69G5FAV' },
    body: { version: 1, members: [member] },
    headers,
  });
  await ask(kernel.putCeiling, {
    params: { tenant: 'acme', budget_id: 'ceiling.tool_calls' },
    body: { version: 1, subject: 'tenant', window: 'month', tool_call_limit: 1_000 },
    headers,
  });
  await ask(kernel.endApprovals, {
    params: { tenant: 'acme' },
    body: { person: 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV', reason: 'The access of the person ended' },
    headers,
  });
  const reads = { params: { tenant: 'acme', budget_id: 'reads' }, headers };
  await ask(kernel.getBudget, reads);
  const used = { event_id: 'parity-1', occurred_at: new Date().toISOString(), tool_calls: 1 };
  await ask(kernel.recordBudgetUsage, { ...reads, body: used });
  const ceilings = { params: { tenant: 'elsewhere' }, headers };
  await ask(kernel.putPolicyCeilings, { ...ceilings, body: { version: 1, rules: [], set_by: 'olga' } });
  await ask(kernel.getPolicyCeilings, ceilings);
  const { policy_hash } = await ask(kernel.getPolicyInForce, { params: { tenant: 'acme' }, headers });
  await ask(kernel.getPolicyBundle, { params: { tenant: 'acme', policy_hash: String(policy_hash) }, headers });
  await ask(kernel.listLedgerEntries, { params: { tenant: 'acme' }, headers });
  await ask(kernel.listMeteredReceipts, { params: { tenant: 'acme' }, query: { from: 0 }, headers });
  const subject = { subject: 'agent:crawler' };
  await ask(kernel.listSubjectRelations, { params: { tenant: 'acme' }, headers, query: subject });
  const lane = { params: { tenant: 'elsewhere', lane: 'draft' }, headers };
  const draft = { format: 'countersign/policy.v1', name: 'draft', version: '1', rules: [] };
  await ask(kernel.putShadowLane, { ...lane, body: { bundle: draft, set_by: 'olga' } });
  await ask(kernel.deleteShadowLane, lane);
  const digest = `sha256:${'0'.repeat(64)}`;
  const undecided = {
    decision_id: 'dec_01J00000000000000000000000',
    policy_hash: digest,
    report_hash: digest,
    epoch: 1,
  };
  await ask(kernel.createActivationSignature, { params: { tenant: 'elsewhere' }, body: undecided, headers });
  const { decision_id } = undecided;
  await ask(kernel.confirmActivation, { params: { tenant: 'elsewhere' }, body: { decision_id }, headers });
  const fence = { params: { scope: 'tenant:elsewhere' }, headers };
  await ask(kernel.putFence, { ...fence, body: { kind: 'freeze', epoch: 1, reason: 'a drill', set_by: 'olga' } });
  await ask(kernel.getFence, fence);
  await ask(kernel.listFences, { headers });
  await ask(kernel.listDriftedTools, { headers });
  await ask(kernel.putTenant, { params: { tenant: 'elsewhere' }, body: { version: 1, org_id: 'acme-group' }, headers });
  await askRelations(ask, headers);
  const bundle = { format: 'countersign/policy.v1', name: 'x', version: '1', rules: [] };
  const signature = { alg: 'Ed25519', key_id: 'unknown', value: 'A'.repeat(86) };
  await ask(kernel.putPolicyBundle, {
    params: { tenant: 'acme' },
    body: { bundle, epoch: 1, confirmed_at: new Date().toISOString(), signature },
    headers,
  });
}
