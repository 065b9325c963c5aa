import { afterAll, beforeAll, expect } from '@jest/globals';
import {
  commercialConfigFrom,
  startCommercialGateway,
  type StartedCommercialGateway,
} from '@countersign/commercial-gateway';
import { createClient, ReceiptId, SignInId, type UserId } from '@countersign/contracts';
import { getInvoice, listInvoices, type BilledEvent } from '@countersign/contracts/commercial-gateway';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { controlPlaneConfigFrom, startControlPlane, type StartedControlPlane } from '@countersign/control-plane';
import { nodeProvider } from '@countersign/crypto/node';
import type { TestDatabase } from '@countersign/database/testing';
import { gatewayConfigFrom, startGateway, type StartedGateway } from '@countersign/gateway';
import { kernelConfigFrom, startKernel, type StartedKernel } from '@countersign/governance-kernel';
import { freePort } from '@countersign/local';
import { createAssertionSigner, readAssertionKey } from '@countersign/service-kit';
import { describeStory } from '@countersign/testkit/describe-story';
import { startNoteServer, type NoteServer } from '@countersign/testkit/mcp-server';
import { startScriptedModel, type ScriptedModel } from '@countersign/testkit/scripted-model';
import { untilAnswered } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { parseKeySet, verifyReceipt } from '@countersign/verifier';
import {
  newKeys,
  ofCommercialGateway,
  ofControlPlane,
  ofGateway,
  ofKernel,
  ownDatabase,
  ownDatabases,
  type Databases,
} from './_environments.ts';
import { personAt, type Person } from './_signed-in.ts';
import { kernelClient, type KernelClient } from './_system.ts';
import { codeOf } from './_tab.ts';

const keys = newKeys();
const monthMs = 32 * 86_400_000;
/** The monthly limit of tool calls that the override sets. */
const callsMax = 6;

let databases: Databases & { controlPlane: TestDatabase; commercial: TestDatabase };
let model: ScriptedModel;
let notes: NoteServer;
let kernel: StartedKernel;
let gateway: StartedGateway;
let controlPlane: StartedControlPlane;
let commercial: StartedCommercialGateway | null = null;
let ports: { gateway: number; controlPlane: number; commercial: number };
let owner: Person;
let ownerId: UserId;
let orgId: OrgId;

const at = (port: number) => `http://127.0.0.1:${port}`;

beforeAll(async () => {
  databases = {
    ...(await ownDatabases()),
    controlPlane: await ownDatabase('control-plane'),
    commercial: await ownDatabase('commercial-gateway'),
  };
  [model, notes] = [await startScriptedModel(), await startNoteServer()];
  kernel = await startKernel(kernelConfigFrom(ofKernel({ keys, databaseUrl: databases.kernel.url, model, notes })));
  ports = { gateway: await freePort(), controlPlane: await freePort(), commercial: await freePort() };
  gateway = await startGateway(
    gatewayConfigFrom({
      ...ofGateway({ keys, databaseUrl: databases.gateway.url, kernelUrl: kernel.url }),
      GOV_GATEWAY_PORT: String(ports.gateway),
      GOV_CONTROL_PLANE_URL: at(ports.controlPlane),
      GOV_COMMERCIAL_URL: at(ports.commercial),
    }),
  );
  const reached = { gatewayUrl: gateway.url, kernelUrl: kernel.url };
  controlPlane = await startControlPlane(
    controlPlaneConfigFrom({
      ...ofControlPlane({ keys, databaseUrl: databases.controlPlane.url, ...reached }),
      GOV_CONTROL_PLANE_PORT: String(ports.controlPlane),
    }),
  );
  await gateway.subscribed;
  owner = await personAt(gateway.url, 'owner@example.com');
  ownerId = (await owner.client.getMe()).body.user.id;
  const org = await owner.tab.send('/api/bootstrap', { method: 'POST', body: { name: 'Away' } });
  orgId = OrgId.parse(org.body['org_id']);
  // The service reads the directory of organisations at its start. Events of later organisations need a broker.
  await startCommercial();
});

afterAll(async () => {
  await commercial?.stop();
  await controlPlane?.stop();
  await gateway?.stop();
  await kernel?.stop();
  await Promise.all([model?.close(), notes?.close()]);
  await Promise.all(Object.values(databases ?? {}).map((database) => database.drop()));
});

async function startCommercial(now: () => Date = () => new Date()): Promise<void> {
  const reached = { gatewayUrl: gateway.url, kernelUrl: kernel.url, controlPlaneUrl: controlPlane.url };
  const config = commercialConfigFrom({
    ...ofCommercialGateway({ keys, databaseUrl: databases.commercial.url, ...reached }),
    GOV_COMMERCIAL_PORT: String(ports.commercial),
    GOV_INSTALLATION_ADMINS: ownerId,
  });
  commercial = await startCommercialGateway(config, { now, meterMs: 100, billingMs: 100 });
}

async function stopCommercial(): Promise<void> {
  await commercial?.stop();
  commercial = null;
}

const here = () => ({ 'x-workspace-id': owner.workspaceId });
const send = (path: string, body: object, headers: object = {}) =>
  owner.tab.send(path, { method: 'POST', body, headers: { ...here(), ...headers } });
const put = (path: string, body: object) => owner.tab.send(path, { method: 'PUT', body, headers: here() });
const agent = (): KernelClient =>
  kernelClient({ kernelUrl: kernel.url, adminApiKey: keys.adminApiKey }, owner.workspaceId, 'agent-1');

type Call = { tool?: string; effect_level?: string; session_id?: string };
async function decide(call: Call = {}) {
  const body = { action: 'tool.call', tool: 'notes.read_note', session_id: 'away', effect_level: 'E1', ...call };
  return (await agent().evaluate({ body: { ...body, args: { id: 'note-1' } } as never })).body; // unbranded names
}
const statementOf = async (call?: Call) => {
  const { verdict, reason_code } = await decide(call);
  return `${verdict} ${reason_code}`;
};

/** Runs a task whose model calls one tool. Resolves with the ended run. */
async function runOnce() {
  const { body: task } = await owner.client.createTask({ body: { title: 'A task', description: 'work' } });
  await owner.client.runTask({ params: { id: task.id } });
  return untilAnswered(async () => {
    const [run] = (await owner.client.listRuns({ params: { id: task.id } })).body.data;
    if (run?.status === 'awaiting_approval') await approveAll();
    return run !== undefined && ['completed', 'failed', 'denied'].includes(run.status) && run;
  });
}

async function approveAll(): Promise<void> {
  const { body } = await owner.client.listWorkspaceApprovals({ query: { status: 'pending' } });
  for (const { id } of body.data)
    await owner.client.resolveWorkspaceApproval({ params: { id }, body: { status: 'approved' } });
}

/** The usage of the month as the owner reads it, once it includes this many decisions. */
async function usageOf(decisions: number): Promise<Map<string, string>> {
  return untilAnswered(async () => {
    const { body } = await owner.tab.send(`/api/billing/tenants/${orgId}/usage`);
    const meters = (body['meters'] ?? []) as { meter: string; quantity: string }[];
    const counts = new Map(meters.map(({ meter, quantity }) => [meter, quantity]));
    return counts.get('decisions') === String(decisions) && counts;
  });
}

/** The decisions of the workspace that the kernel sealed, and those of them that allowed a tool. */
async function sealedDecisions() {
  const { data } = (await agent().listReceipts({ query: { kind: 'decision', limit: 200 } })).body;
  const tools = data.filter(({ payload }) => payload.verdict === 'ALLOW' && payload.tool !== null);
  return { all: data, tools };
}

describeStory('the commercial gateway', () => {
  verifies(
    'cg.outage',
    'interrupts no work, approval, stop or proof while it is stopped, leaves the last known limit in force, and counts everything afterwards',
    async () => {
      await untilAnswered(async () => (await owner.tab.send(`/api/billing/tenants/${orgId}`)).status === 200);
      const plan = { plan_id: 'team', plan_version: 1 };
      expect((await put(`/api/billing/tenants/${orgId}/subscription`, { plan })).status).toBe(200);
      const expires_at = new Date(Date.now() + 86_400_000).toISOString();
      const override = { limits: { tool_calls: callsMax }, capabilities: [], expires_at };
      expect(await put(`/api/commercial/admin/orgs/${orgId}`, { suspension: null, override })).toMatchObject({
        status: 200,
      });
      await untilAnswered(async () => {
        const { data } = (await agent().listBudgets()).body;
        return data.some(
          ({ budget_id, tool_call_limit }) => budget_id === 'plan.tool_calls' && tool_call_limit === callsMax,
        );
      });
      expect(await statementOf()).toBe('ALLOW ALLOWED');
      await stopCommercial();

      expect(codeOf(await owner.tab.send(`/api/billing/tenants/${orgId}/usage`))).toEqual([
        503,
        'COMMERCIAL_UNAVAILABLE',
      ]);
      const says = [
        { toolCalls: [{ name: 'notes__read_note', arguments: '{"id":"note-2"}' }] },
        { text: 'read' },
        { toolCalls: [{ name: 'notes__write_note', arguments: '{"id":"note-3","text":"as agreed"}' }] },
        { text: 'written' },
      ];
      model.follow(() => says.shift() ?? { text: 'done' });
      expect((await runOnce()).status).toBe('completed');
      expect((await runOnce()).status).toBe('completed');

      const stop = await send('/api/ops/freeze', {
        target: `workspace:${owner.workspaceId}`,
        reason: 'the vault leaks',
      });
      expect([stop.status, stop.body]).toMatchObject([200, { state: 'effective' }]);
      expect(await statementOf()).toBe('DENY SYSTEM_FROZEN');
      const target = `workspace:${owner.workspaceId}`;
      expect((await send('/api/ops/resume', { target, reason: 'it does not' })).status).toBe(200);

      const { receipt_id } = await decide();
      const made = await send('/api/audit/handles', { object_id: receipt_id, public: true });
      expect([made.status, made.text]).toEqual([201, made.text]);
      expect((await fetch(`${gateway.url}/api/public/verify/${String(made.body['handle'])}`)).status).toBe(200);

      const remaining = callsMax - (await sealedDecisions()).tools.length;
      for (let nth = 0; nth < remaining; nth += 1) expect(await statementOf()).toBe('ALLOW ALLOWED');
      const beyond = await decide();
      expect(beyond).toMatchObject({ verdict: 'DENY', reason_code: 'BUDGET_EXCEEDED' });

      const { all, tools } = await sealedDecisions();
      expect(all.map((receipt) => receipt.payload.receipt_id)).toContain(beyond.receipt_id);
      expect(tools).toHaveLength(callsMax);
      await startCommercial();
      expect((await usageOf(all.length)).get('tool_calls')).toBe(String(callsMax));
    },
  );

  verifies(
    'cg.metering',
    'links each line of usage in an invoice to receipts that verify and add up to its quantity',
    async () => {
      const { all, tools } = await sealedDecisions();
      await usageOf(all.length);
      await stopCommercial();
      const later = () => new Date(Date.now() + monthMs);
      await startCommercial(later);
      const billing = await billingAt(later);
      const params = { tenant_id: orgId };
      const invoice = await untilAnswered(async () => {
        const { data } = (await billing.listInvoices({ params })).body;
        return data.find(({ kind }) => kind === 'period');
      });
      const { lines } = (await billing.getInvoice({ params: { ...params, invoice_id: invoice.invoice_id } })).body;
      const metered = lines.flatMap((line) => (line.kind === 'usage' ? [line] : []));
      expect(metered.map(({ meter }) => meter)).toContain('tool_calls');
      const trust = parseKeySet((await agent().listTrustKeys()).body);
      for (const { meter, quantity } of metered) {
        const query = { meter, limit: 200 };
        const { events } = (await billing.getInvoice({ params: { ...params, invoice_id: invoice.invoice_id }, query }))
          .body;
        const billed: BilledEvent[] = events?.data ?? [];
        expect(billed.reduce((sum, event) => sum + Number(event.quantity), 0)).toBe(Number(quantity));
        const expected = meter === 'tool_calls' ? tools : all;
        expect(billed.map(({ id }) => id).toSorted()).toEqual(
          expected.map(({ payload }) => payload.receipt_id).toSorted(),
        );
        for (const { id } of billed) {
          const { body: receipt } = await agent().getReceipt({ params: { receipt_id: ReceiptId.parse(id) } });
          verifyReceipt(receipt, trust, nodeProvider);
        }
      }
    },
  );
});

/** The owner, as asserted by a gateway with this clock. */
async function billingAt(now: () => Date) {
  const key = readAssertionKey(keys.assertionKey.privateKeyPem);
  if (key === null) throw new Error('The key of the gateway is not an Ed25519 key');
  const person = {
    sub: ownerId,
    sid: SignInId.parse('ses_01ARZ3NDEKTSV4RRFFQ69G5FA1'),
    auth_time: Math.floor(now().getTime() / 1_000),
  };
  const bearer = await createAssertionSigner(key, now).signPerson(person, 'commercial-gateway');
  return createClient(
    { getInvoice, listInvoices },
    { baseUrl: at(ports.commercial), headers: () => ({ authorization: `Bearer ${bearer}` }) },
  );
}
