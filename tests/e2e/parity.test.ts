import { generateKeyPairSync, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { pathParams, type AnyRoute } from '@countersign/contracts';
import * as controlPlane from '@countersign/contracts/control-plane';
import * as gateway from '@countersign/contracts/gateway';
import * as kernel from '@countersign/contracts/governance-kernel';
import { routesByService, type ServiceName } from '@countersign/contracts/openapi';
import { canonicalBytes, parsePlainJson } from '@countersign/crypto';
import type { StartedSystem } from '@countersign/local';
import { startNoteServer, type NoteServer } from '@countersign/testkit/mcp-server';
import { verifies } from '@countersign/testkit/verifies';
import { members, type Ask, type Body } from './_ask.ts';
import { connectorsAt, writeCatalogue } from './_catalogue.ts';
import { askCommercial } from './_commercial-probes.ts';
import { askConsole } from './_console-probes.ts';
import { askControls } from './_control-probes.ts';
import { askIdentities } from './_identities.ts';
import { askRegistry } from './_registry-probes.ts';
import { askConformance, askDemo, askEvidence, askProofs } from './_proof-probes.ts';
import { askMembers } from './_member-probes.ts';
import { askPasskeys } from './_passkey-probes.ts';
import { publishedService, untilReady, type Probe, type Published } from './_published.ts';
import { askTrust, trustRoot } from './_trust-probes.ts';
import { askSignIns, botToken } from './_sign-in-probes.ts';
import { askSignedIn } from './_signed-in-probes.ts';
import { scratchDataDir, signIn, startIn } from './_system.ts';
import { askGovernance, askNotifications, askTasks, askWorkspace } from './_workspace-probes.ts';

const dataDir = scratchDataDir();
const publicUrl = 'http://localhost';
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
let notes: NoteServer;
let publishedKernel: Published;

beforeAll(async () => {
  // Also configures approver keys, the public address for passkeys, a messenger, a token issuer, a root of trust and
  // private MCP addresses.
  const variables = {
    GOV_APPROVER_KEYS: JSON.stringify(approverKeys),
    GOV_PUBLIC_URL: publicUrl,
    GOV_MESSENGER_BOT_TOKEN: botToken,
    GOV_OAUTH_ISSUER: 'https://issuer.example',
    GOV_TRUST_ROOT: trustRoot,
    GOV_MCP_PRIVATE: '1',
  };
  notes = await startNoteServer();
  const catalogue = writeCatalogue(join(dataDir.path, 'own-catalogue.json'), connectorsAt({ shelf: notes.url }));
  system = await startIn(dataDir.path, { ...variables, ...catalogue });
  writeFileSync(join(system.filesDir, 'notes.md'), 'Water the plants.\n');
  publishedKernel = publishedService('governance-kernel', system.kernelUrl);
  // The control plane verifies nothing before a trust list exists.
  await askTrust(askOf(publishedKernel));
});

afterAll(async () => {
  await system?.stop();
  await notes?.close();
  dataDir.remove();
});

const urls = (): Record<ServiceName, string> => ({
  gateway: system.gatewayUrl,
  'governance-kernel': system.kernelUrl,
  'control-plane': system.controlPlaneUrl,
  'commercial-gateway': system.commercialUrl,
});

function kernelHeaders(principal = 'alice'): Record<string, string> {
  const authorization = `Bearer ${system.adminApiKey}`;
  return { authorization, 'x-gov-tenant-id': 'acme', 'x-gov-principal-id': principal };
}

const askOf =
  (published: Published): Ask =>
  async (route, probe = {}) =>
    members((await published.ask(route, { headers: kernelHeaders(), ...probe })).body);

async function askKernel(published: Published): Promise<void> {
  const ask = askOf(published);
  await untilReady(published, kernel.getReadiness);
  await askDecisions(ask);
  await askProofs(ask);
  await askApprovals(ask);
  await askAgentProtocols(ask);
  await askConformance(ask);
  await askPasskeys(ask, { publicUrl, headersOf: kernelHeaders, serviceKey: system.serviceApiKey });
  await askDemo(ask);
  await askControls(ask, { authorization: `Bearer ${system.serviceApiKey}` });
  // This comes last, since it revokes the server that the other routes call.
  await askRegistry(ask, { headersOf: kernelHeaders, path: join(system.filesDir, 'notes.md'), notesUrl: notes.url });
}

const read = { action: 'tool.call', tool: 'crm.read', effect_level: 'E1', session_id: 's1' };
const send = { action: 'tool.call', tool: 'mail.send', effect_level: 'E3', session_id: 's1' };

async function askDecisions(ask: Ask): Promise<void> {
  await ask(kernel.healthz);
  await ask(kernel.version);
  await ask(kernel.getOpenApi);
  await ask(kernel.getLiveness);
  await ask(kernel.listModels);
  await ask(kernel.getModel, { params: { model: 'countersign-scripted-model' } });
  await ask(kernel.putBudget, {
    params: { budget_id: 'reads' },
    body: { subject: 'tool:crm.read', window: '1h', tool_call_limit: 100 },
  });
  await ask(kernel.listBudgets);
  const key = await ask(kernel.createAccessKey, { body: { kind: 'agent', principal_id: 'researcher' } });
  await ask(kernel.listAccessKeys);
  await ask(kernel.revokeAccessKey, { params: { key_id: key['key_id'] ?? '' } });
  await askIdentities(ask);
  const allowed = await ask(kernel.evaluate, { body: read });
  await ask(kernel.evaluate, { body: { ...read, effect_level: 'E4' } });
  await ask(kernel.evaluate, { body: send });
  await ask(kernel.listReceipts, { query: { session_id: 's1' } });
  await ask(kernel.getReceipt, { params: { receipt_id: allowed['receipt_id'] ?? '' } });
  await ask(kernel.exportReceipts, { query: { session_id: 's1' } });
  await askEvidence(ask, allowed['receipt_hash'] ?? '');
  await ask(kernel.tailReceipts);
  await ask(kernel.listRecords);
  await ask(kernel.getRecord, { params: { record_id: allowed['record_id'] ?? '' } });
  await ask(kernel.verifyRecord, { params: { record_id: allowed['record_id'] ?? '' } });
}

async function askApprovals(ask: Ask): Promise<void> {
  const answer = await ask(kernel.createApproval, { body: { ...withoutEffect(send), reason: 'for the customer' } });
  await ask(kernel.listApprovals, { query: { state: 'pending' } });
  await ask(kernel.getApprovalContext, { params: { approval_id: answer['approval_id'] ?? '' } });
  const move = (approval: Body, action: string) =>
    ask(kernel.transitionApproval, {
      params: { approval_id: approval['approval_id'] ?? '', action },
      body: {},
      headers: { ...kernelHeaders('bob'), 'if-match': `"${String(approval['ceremony_hash'])}"` },
    });
  await move(answer, 'deny');
  const withdrawn = await ask(kernel.createApproval, { body: { ...withoutEffect(send), tool: 'c', reason: 'again' } });
  await ask(kernel.withdrawApproval, { params: { approval_id: withdrawn['approval_id'] ?? '' }, body: {} });
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
  const messages = [{ id: 'm1', role: 'user', content: 'hello' }];
  const run = { threadId: 's1', runId: 'r1', messages, forwardedProps: { model: 'm' } };
  await ask(kernel.runAgentUi, { body: run });
  await ask(kernel.runAgUi, { body: run });
  await ask(kernel.getAgentUiInfo);
  await ask(kernel.getAgUiInfo);
  await ask(kernel.describeMcp);
  const accept = 'application/json, text/event-stream';
  await ask(kernel.callMcp, { body: initialize, headers: { ...kernelHeaders(), accept } });
  await ask(kernel.listMcpCapabilities);
  await ask(kernel.listRegisteredTools);
  await ask(kernel.listActions);
  const args = { path: join(system.filesDir, 'notes.md') };
  await ask(kernel.executeMcp, { body: { tool: 'files.read_text_file', args, session_id: 's1' } });
  await ask(kernel.executeMcp, {
    body: { tool: 'files.write_file', args: { ...args, content: 'x' }, session_id: 's1' },
  });
}

async function askGateway(published: Published): Promise<void> {
  await published.ask(gateway.getHealth);
  await published.ask(gateway.getOpenApi);
  await published.ask(gateway.getLiveness);
  await untilReady(published, gateway.getReadiness);
  await published.ask(gateway.listModes);
  await published.ask(gateway.listCapabilities);
  await published.ask(gateway.getCapability, { params: { key: 'budgets' } });
  const email = 'parity@example.com';
  const requested = members((await published.ask(gateway.requestEmailCode, { body: { email } })).body);
  const code = requested['code'] ?? '';
  const session = members((await published.ask(gateway.verifyEmailCode, { body: { email, code } })).body);
  const workspaceId = members(session['workspace'])['id'] ?? '';
  const headers = { authorization: `Bearer ${String(session['token'])}`, 'x-workspace-id': workspaceId };
  const ask = async (route: AnyRoute, probe: Probe = {}) =>
    members((await published.ask(route, { headers, ...probe })).body);
  await askWorkspace(ask, workspaceId);
  await askNotifications(ask, workspaceId);
  await askMembers(published, ask, workspaceId);
  await askSignIns(published, ask);
  await askTasks(ask, system.filesDir);
  await askGovernance(ask);
  await ask(gateway.endSession);
  await askDirectory(published);
}

function sibling(): { headers: Record<string, string> } {
  return { headers: { authorization: `Bearer ${system.serviceApiKey}` } };
}

async function askDirectory(published: Published): Promise<void> {
  const email = 'browser@example.com';
  const answer = await published.ask(gateway.sendSignInCode, { body: { email, isLocal: true }, ...sibling() });
  const { code } = members(answer.body);
  const proven = await published.ask(gateway.proveAddress, { body: { email, code }, ...sibling() });
  const params = { user_id: members(members(proven.body)['user'])['id'] ?? '' };
  const again = await published.ask(gateway.sendUserCode, { params, body: { isLocal: true }, ...sibling() });
  await published.ask(gateway.authorizeSignIn, { params, body: { connection_id: null }, ...sibling() });
  await published.ask(gateway.proveUser, { params, body: { code: members(again.body)['code'] }, ...sibling() });
  const { workspaceId: workspace_id } = await signIn(system, email);
  await published.ask(gateway.tellMembers, { params: { workspace_id }, ...sibling() });
  const lane = { version: 1, lane: 'run', by: String(params.user_id) };
  await published.ask(gateway.putLane, { params: { workspace_id }, body: lane, ...sibling() });
  await published.ask(gateway.getLane, { params: { workspace_id }, ...sibling() });
  await published.ask(gateway.readAuditChain, { params: { workspace_id }, ...sibling() });
  const ofNoPerson = { org_id: 'org_01ARZ3NDEKTSV4RRFFQ69G5FAV', scim_user_id: 'scu_01ARZ3NDEKTSV4RRFFQ69G5FAV' };
  await published.ask(gateway.findSoleOwner, {
    body: { ...ofNoPerson, workspace_ids: [workspace_id] },
    ...sibling(),
  });
}

/** Calls the control plane. Browsers reach it through the gateway, and sibling services directly. */
async function askControlPlane(browser: Published, direct: Published): Promise<void> {
  await direct.ask(controlPlane.getHealth);
  await direct.ask(controlPlane.getOpenApi);
  await direct.ask(controlPlane.getLiveness);
  await untilReady(direct, controlPlane.getReadiness);
  await askPages(browser);
  const begun = members((await browser.ask(controlPlane.beginLogin, { body: { email: 'browser@example.org' } })).body);
  const { login_id, code } = begun;
  const finished = await browser.ask(controlPlane.finishLogin, { body: { login_id, code } });
  const cookie = cookiesOf(finished);
  const renewed = await browser.ask(controlPlane.refreshSession, { headers: { cookie } });
  const headers = { cookie: cookiesOf(renewed) };
  const token = /countersign=([^;]*)/.exec(headers.cookie)?.[1];
  await direct.ask(controlPlane.introspectSession, { body: { token }, ...sibling() });
  const session = members((await browser.ask(controlPlane.getSession, { headers })).body);
  await browser.ask(controlPlane.listAuditEntries, { headers });
  await browser.ask(controlPlane.exportAuditEntries, { headers });
  const ofPage = { 'x-csrf-token': session['csrf_token'] ?? '', 'sec-fetch-site': 'same-origin' };
  const atPage = { headers: { ...headers, ...ofPage } };
  await askSignedIn(browser, atPage, { ...system, direct, sibling: sibling() });
  await browser.ask(controlPlane.deleteSession, atPage);
  await askConsole(browser, system.gatewayUrl);
  const listed = members((await direct.ask(controlPlane.listOrgs, sibling())).body);
  const [org] = listed.data;
  const ofOrg = { params: { org_id: org?.['org_id'] ?? '' }, query: { connection_id: 'acme' }, ...sibling() };
  await direct.ask(controlPlane.getSsoReadiness, ofOrg);
}

async function askPages(browser: Published): Promise<void> {
  await browser.ask(controlPlane.showConsole);
  await browser.ask(controlPlane.listOidcConnections);
  const page = await (await fetch(`${system.gatewayUrl}/console`)).text();
  await browser.ask(controlPlane.showConsolePage, { params: { page: 'runs' } });
  await browser.ask(controlPlane.showConsoleObject, { params: { page: 'runs', id: 'tsk_1' } });
  const [, file = ''] = /assets\/([^"]+\.js)"/.exec(page) ?? [];
  await browser.ask(controlPlane.getConsoleFile, { params: { file } });
}

function cookiesOf({ headers }: { headers: Headers }): string {
  const pairs = headers.getSetCookie().map((text) => text.split(';')[0] ?? '');
  return pairs.join('; ');
}

/** The operations of a service, except its pages for people. The pages have their own tests. */
function operationsOf(service: string): string[] {
  const routes = routesByService.find(({ name }) => name === service)?.routes ?? [];
  const pages = ['/docs', '/approvals/', '/invite/', '/api/auth/oidc/{'];
  const isPage = (path: string) => path === '/' || pages.some((page) => path.startsWith(page));
  return routes.filter(({ path }) => !isPage(path)).map(({ operation }) => operation);
}

/**
 * Routes for identity providers. They need a SCIM token and a verified domain. Tests of the commercial gateway cover
 * them.
 */
function isOfScim(operation: string): boolean {
  return operation.includes('-scim-') && !operation.endsWith('-scim-token');
}

/** Expects that each route with an Idempotency-Key was sent one key twice. */
function expectReplayed(service: string, replayed: ReadonlySet<string>): void {
  const routes = routesByService.find(({ name }) => name === service)?.routes ?? [];
  const keyed = routes.filter(({ idempotency }) => idempotency === 'key').map(({ operation }) => operation);
  expect(keyed.length).toBeGreaterThan(0);
  expect(keyed.filter((operation) => !replayed.has(operation))).toEqual([]);
}

describe('the published OpenAPI', () => {
  verifies('sys.parity', "describes the kernel's answer on every route", async () => {
    const published = publishedKernel;
    await askKernel(published);
    const silent = operationsOf('governance-kernel').filter((operation) => !published.answered.has(operation));
    // These need a key or a vote of a person who may change the policy of all tenants. Other tests cover them.
    expect(silent.sort()).toEqual(['confirm-activation', 'create-activation-signature', 'put-policy-bundle']);
    expectReplayed('governance-kernel', published.replayed);
  });

  verifies('sys.parity', "describes the gateway's answer on every route", async () => {
    const published = publishedService('gateway', system.gatewayUrl);
    await askGateway(published);
    expect(operationsOf('gateway').filter((operation) => !published.answered.has(operation))).toEqual([]);
    expectReplayed('gateway', published.replayed);
  });

  verifies('sys.parity', "describes the control plane's answer on every route", async () => {
    const browser = publishedService('control-plane', system.gatewayUrl);
    const direct = publishedService('control-plane', system.controlPlaneUrl);
    await askControlPlane(browser, direct);
    const answered = new Set([...browser.answered, ...direct.answered]);
    expect(operationsOf('control-plane').filter((operation) => !answered.has(operation))).toEqual([]);
    expectReplayed('control-plane', new Set([...browser.replayed, ...direct.replayed]));
  });

  verifies('sys.parity', "describes the commercial gateway's answer on every route", async () => {
    const door = publishedService('commercial-gateway', system.gatewayUrl);
    const direct = publishedService('commercial-gateway', system.commercialUrl);
    const { gatewayUrl, serviceApiKey } = system;
    await askCommercial({ gatewayUrl, serviceApiKey, door, direct });
    const answered = new Set([...door.answered, ...direct.answered]);
    const silent = operationsOf('commercial-gateway').filter(
      (operation) => !answered.has(operation) && !isOfScim(operation),
    );
    // These need an administrator, a verified domain, a token, a payment provider, a budget, an invoice, a receipt or
    // an approval. Other tests cover them.
    expect(silent.sort()).toEqual([
      'activate-licence',
      'begin-trial',
      'create-basic-evidence',
      'create-scim-token',
      'get-invoice',
      'grant-org-credit',
      'list-administered-orgs',
      'put-identity-settings',
      'put-org-settings',
      'receive-payment-event',
      'record-spend',
      'refund-invoice',
      'resolve-basic-approval',
      'revoke-scim-token',
      'start-checkout',
    ]);
  });

  verifies('sys.parity', 'describes how each route rejects a caller without credentials', async () => {
    for (const { name, routes } of routesByService) {
      const published = publishedService(name, urls()[name]);
      for (const route of routes.filter(({ auth }) => auth !== 'public')) {
        const named = pathParams(route.path).map((name) => [name, name === 'action' ? 'approve' : 'x']);
        const { status } = await published.ask(route, { params: Object.fromEntries(named) as Record<string, string> });
        expect([route.operation, status]).toEqual([route.operation, 401]);
      }
    }
  });
});
