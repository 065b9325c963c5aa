import { generateKeyPairSync, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { AnyRoute } from '@countersign/contracts';
import * as gateway from '@countersign/contracts/gateway';
import * as kernel from '@countersign/contracts/governance-kernel';
import { routesByService } from '@countersign/contracts/openapi';
import { canonicalBytes, parsePlainJson } from '@countersign/crypto';
import { startSystem, type StartedSystem } from '@countersign/local';
import { verifies } from '@countersign/testkit/verifies';
import { publishedService, type Probe, type Published } from './_published.ts';
import { scratchDataDir, until } from './_system.ts';

const dataDir = scratchDataDir();
const timeoutMs = 120_000;
const approver = generateKeyPairSync('ed25519');
const approverKeys = [
  {
    tenant_id: 'acme',
    principal_id: 'carol',
    key_id: 'carol-1',
    public_key: approver.publicKey.export({ format: 'jwk' }).x,
  },
];
let system: StartedSystem;

beforeAll(async () => {
  const variables = { GOV_APPROVER_KEYS: JSON.stringify(approverKeys) };
  system = await startSystem({ dataDir: dataDir.path, variables });
  writeFileSync(join(system.filesDir, 'notes.md'), 'Water the plants.\n');
}, timeoutMs);

afterAll(async () => {
  await system.stop();
  dataDir.remove();
}, timeoutMs);

type Body = Record<string, never> & { data: Body[] };

/** The members of an answer that was just held against its published schema. */
function members(body: unknown): Body {
  return body as Body;
}

function kernelHeaders(principal = 'alice'): Record<string, string> {
  const authorization = `Bearer ${system.adminApiKey}`;
  return { authorization, 'x-gov-tenant-id': 'acme', 'x-gov-principal-id': principal };
}

async function askKernel(published: Published): Promise<void> {
  const headers = kernelHeaders();
  const ask = async (route: AnyRoute, probe: Probe = {}) =>
    members((await published.ask(route, { headers, ...probe })).body);
  await askDecisions(ask);
  await askProofs(ask);
  await askApprovals(ask);
  await askAgentProtocols(ask);
  await askDemo(ask);
  await askPolicy(ask);
}

type Ask = (route: AnyRoute, probe?: Probe) => Promise<Body>;

const read = { action: 'tool.call', tool: 'crm.read', effect_level: 'E1', session_id: 's1' };
const send = { action: 'tool.call', tool: 'mail.send', effect_level: 'E3', session_id: 's1' };

async function askDecisions(ask: Ask): Promise<void> {
  await ask(kernel.healthz);
  await ask(kernel.version);
  await ask(kernel.getOpenApi);
  await ask(kernel.listModels);
  await ask(kernel.putBudget, {
    params: { budget_id: 'reads' },
    body: { subject: 'tool:crm.read', window: '1h', tool_call_limit: 100 },
  });
  await ask(kernel.listBudgets);
  const key = await ask(kernel.createAccessKey, { body: { kind: 'agent', principal_id: 'researcher' } });
  await ask(kernel.listAccessKeys);
  await ask(kernel.revokeAccessKey, { params: { key_id: key['key_id'] ?? '' } });
  const allowed = await ask(kernel.evaluate, { body: read });
  await ask(kernel.evaluate, { body: { ...read, effect_level: 'E4' } });
  await ask(kernel.evaluate, { body: send });
  await ask(kernel.listReceipts, { query: { session_id: 's1' } });
  await ask(kernel.getReceipt, { params: { receipt_id: allowed['receipt_id'] ?? '' } });
  await ask(kernel.exportReceipts, { query: { session_id: 's1' } });
  await ask(kernel.tailReceipts);
  await ask(kernel.listRecords);
  await ask(kernel.getRecord, { params: { record_id: allowed['record_id'] ?? '' } });
  await ask(kernel.verifyRecord, { params: { record_id: allowed['record_id'] ?? '' } });
}

async function askProofs(ask: Ask): Promise<void> {
  const checkpoint = await ask(kernel.createCheckpoint);
  await ask(kernel.listCheckpoints);
  await ask(kernel.verifyCheckpoint, { params: { checkpoint_id: checkpoint['checkpoint_id'] ?? '' } });
  await ask(kernel.getLatestCheckpoint);
  const { data } = await ask(kernel.listReceipts, { query: { limit: 1 } });
  const receipt = members(data[0]?.['payload']);
  await ask(kernel.getInclusionProof, { query: { receipt_id: receipt['receipt_id'] ?? '' } });
  await ask(kernel.getConsistencyProof, { query: { from: 1, to: checkpoint['tree_size'] ?? 1 } });
  await ask(kernel.listTrustKeys);
}

async function askApprovals(ask: Ask): Promise<void> {
  const asked = await ask(kernel.createApproval, { body: { ...withoutEffect(send), reason: 'for the customer' } });
  await ask(kernel.listApprovals, { query: { state: 'pending' } });
  const move = (approval: Body, action: string) =>
    ask(kernel.transitionApproval, {
      params: { approval_id: approval['approval_id'] ?? '', action },
      body: {},
      headers: { ...kernelHeaders('bob'), 'if-match': `"${String(approval['ceremony_hash'])}"` },
    });
  await move(asked, 'deny');
  const signed = await ask(kernel.createApproval, { body: { ...withoutEffect(send), tool: 'b', reason: 'again' } });
  await ask(kernel.approveByKernel, {
    body: signedBy('carol', signed),
    headers: { authorization: `Bearer ${system.serviceApiKey}` },
  });
}

function withoutEffect({ effect_level: _level, ...call }: typeof send) {
  return call;
}

function signedBy(principal: string, { approval_id, intent_hash, judged_hash, policy_hash, ceremony_hash }: Body) {
  const subject = { approval_id, tenant_id: 'acme', intent_hash, judged_hash, policy_hash, ceremony_hash };
  const statement = { type: 'countersign.approval.v1', ...subject, approver_id: principal, decision: 'approve' };
  const signature = sign(null, canonicalBytes(parsePlainJson(statement)), approver.privateKey).toString('base64url');
  return { statement, key_id: `${principal}-1`, signature };
}

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'parity', version: '1' } },
};

async function askAgentProtocols(ask: Ask): Promise<void> {
  const chat = { model: 'm', messages: [{ role: 'user', content: 'hello' }] };
  await ask(kernel.createChatCompletion, { body: chat });
  await ask(kernel.createChatCompletion, { body: { ...chat, stream: true } });
  await ask(kernel.describeMcp);
  const accept = 'application/json, text/event-stream';
  await ask(kernel.callMcp, { body: initialize, headers: { ...kernelHeaders(), accept } });
  await ask(kernel.listMcpCapabilities);
  const args = { path: join(system.filesDir, 'notes.md') };
  await ask(kernel.executeMcp, { body: { tool: 'files.read_text_file', args, session_id: 's1' } });
  await ask(kernel.executeMcp, {
    body: { tool: 'files.write_file', args: { ...args, content: 'x' }, session_id: 's1' },
  });
}

async function askDemo(ask: Ask): Promise<void> {
  const ran = await ask(kernel.runDemo, { body: { action_id: 'read_ticket' } });
  const { payload, signature } = members(ran['receipt']);
  const proof = { receipt: { payload, signature }, expected_receipt_hash: ran['receipt_hash'] };
  await ask(kernel.verifyDemo, { body: proof });
  await ask(kernel.tamperDemo, { body: proof });
}

/** Refused on purpose: what the answer to a bundle with a foreign signature looks like. Its success needs the operator's key. */
async function askPolicy(ask: Ask): Promise<void> {
  const headers = { authorization: `Bearer ${system.serviceApiKey}` };
  await ask(kernel.putToolBlocks, {
    params: { tenant: 'acme' },
    body: { version: 1, tools: ['crm.delete'] },
    headers,
  });
  await ask(kernel.putCeiling, {
    params: { tenant: 'acme', ceiling_id: 'ceiling.tool_calls' },
    body: { version: 1, subject: 'tenant', window: 'month', tool_call_limit: 1_000 },
    headers,
  });
  const fence = { params: { scope: 'tenant:elsewhere' }, headers };
  await ask(kernel.putFence, { ...fence, body: { kind: 'freeze', epoch: 1, reason: 'a drill', set_by: 'olga' } });
  await ask(kernel.getFence, fence);
  await ask(kernel.listFences, { headers });
  const bundle = { format: 'countersign/policy.v1', name: 'x', version: '1', rules: [] };
  const signature = { alg: 'Ed25519', key_id: 'unknown', value: 'A'.repeat(86) };
  await ask(kernel.putPolicyBundle, {
    params: { tenant: 'acme' },
    body: { bundle, epoch: 1, confirmed_at: new Date().toISOString(), signature },
    headers,
  });
}

async function askGateway(published: Published): Promise<void> {
  await published.ask(gateway.getHealth);
  await published.ask(gateway.getOpenApi);
  await published.ask(gateway.listModes);
  const email = 'parity@example.com';
  const requested = members((await published.ask(gateway.requestEmailCode, { body: { email } })).body);
  const code = requested['code'] ?? '';
  const session = members((await published.ask(gateway.verifyEmailCode, { body: { email, code } })).body);
  const workspaceId = members(session['workspace'])['id'] ?? '';
  const headers = { authorization: `Bearer ${String(session['token'])}`, 'x-workspace-id': workspaceId };
  const ask = async (route: AnyRoute, probe: Probe = {}) =>
    members((await published.ask(route, { headers, ...probe })).body);
  await askWorkspace(ask, workspaceId);
  await askTasks(ask);
  await askGovernance(ask);
  await ask(gateway.endSession);
}

async function askWorkspace(ask: Ask, id: string): Promise<void> {
  await ask(gateway.getWorkspace, { params: { id } });
  await ask(gateway.getWorkspaceSettings, { params: { id } });
  await ask(gateway.putWorkspaceSettings, { params: { id }, body: { policyConfig: { maxIterationBudget: 9 } } });
  await ask(gateway.putWorkspaceMode, { params: { id }, body: { mode: 'build' } });
}

async function askTasks(ask: Ask): Promise<void> {
  const path = join(system.filesDir, 'letter.md');
  const description = `call:files__write_file ${JSON.stringify({ path, content: 'x' })}`;
  const task = await ask(gateway.createTask, { body: { title: 'Write', description } });
  const params = { id: task['id'] ?? '' };
  await ask(gateway.listTasks);
  await ask(gateway.runTask, { params });
  const pending = await until(async () => {
    const { data } = await ask(gateway.listWorkspaceApprovals, { query: { status: 'pending' } });
    return data[0];
  });
  await ask(gateway.listRuns, { params });
  await ask(gateway.resolveWorkspaceApproval, { params: { id: pending['id'] ?? '' }, body: { status: 'rejected' } });
  const other = await ask(gateway.createTask, { body: { title: 'Wait' } });
  await ask(gateway.putTaskStatus, { params: { id: other['id'] ?? '' }, body: { status: 'queued' } });
}

async function askGovernance(ask: Ask): Promise<void> {
  await ask(gateway.listAudit);
  await ask(gateway.listViolations);
  await ask(gateway.getGovernanceStatus);
  const receipts = await until(async () => {
    const page = await ask(gateway.listGovernanceReceipts);
    return page.data.length > 0 && page;
  });
  await ask(gateway.getGovernanceReceipt, { params: { decisionId: receipts.data[0]?.['decisionId'] ?? '' } });
}

/** Pages are for people; their own tests read them. */
function operationsOf(service: string): string[] {
  const routes = routesByService.find(({ name }) => name === service)?.routes ?? [];
  return routes.filter(({ media }) => media !== 'html').map(({ operation }) => operation);
}

describe('the published OpenAPI', () => {
  verifies(
    'sys.parity',
    'describes what the kernel answers on every route',
    async () => {
      const published = publishedService('governance-kernel', system.kernelUrl);
      await askKernel(published);
      const silent = operationsOf('governance-kernel').filter((operation) => !published.answered.has(operation));
      expect(silent).toEqual(['put-policy-bundle']);
    },
    timeoutMs,
  );

  verifies(
    'sys.parity',
    'describes what the gateway answers on every route',
    async () => {
      const published = publishedService('gateway', system.gatewayUrl);
      await askGateway(published);
      expect(operationsOf('gateway').filter((operation) => !published.answered.has(operation))).toEqual([]);
    },
    timeoutMs,
  );

  verifies('sys.parity', 'describes how each route refuses a caller without credentials', async () => {
    for (const { name, routes } of routesByService) {
      const isGateway = name === 'gateway';
      const url = isGateway ? system.gatewayUrl : system.kernelUrl;
      const published = publishedService(isGateway ? 'gateway' : 'governance-kernel', url);
      for (const route of routes.filter(({ auth }) => auth !== 'public')) {
        const params = { id: 'x', receipt_id: 'x', record_id: 'x', checkpoint_id: 'x', decisionId: 'x' };
        const more = { approval_id: 'x', action: 'approve', budget_id: 'x', tenant: 'x', scope: 'x' };
        const { status } = await published.ask(route, { params: { ...params, ...more } });
        expect([route.operation, status]).toEqual([route.operation, 401]);
      }
    }
  });
});
