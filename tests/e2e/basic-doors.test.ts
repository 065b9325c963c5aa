import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, beforeEach, describe, expect } from '@jest/globals';
import { createClient, isAppError, PrincipalId, type Client } from '@countersign/contracts';
import { evaluate, listBudgets } from '@countersign/contracts/governance-kernel';
import * as routes from '@countersign/contracts/routes';
import { untilAnswered } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';
import { addressBook, inDatabase, signIn, type SignedIn } from './_system.ts';

type Door = Client<
  typeof routes.commercialRoutes &
    typeof routes.controlPlaneRoutes &
    typeof routes.gatewayRoutes & { evaluate: typeof evaluate; listBudgets: typeof listBudgets }
>;

const all = { limit: 50 };
const address = addressBook();
const steps = [{ kind: 'freeze', target: 'agent:crawler', reason: 'It was seen' }] as never; // branded by the schema
const report = { title: 'A leak', severity: 'high', category: 'conduct', note: 'seen', receipts: [] } as const;
let system: SharedSystem;
let count = 0;
let ada: SignedIn;
let orgId: string;
let person: Door;

beforeAll(async () => {
  system = await sharedSystem();
});

beforeEach(async () => {
  ada = await signIn(system, address(`doors-${(count += 1)}`));
  person = doorOf(ada.token);
  orgId = (await person.bootstrapOrg({ body: { name: `Doors ${count}` } })).body.org_id;
  // The commercial gateway learns of the organisation and of its workspace from events.
  await untilAnswered(openDev);
});

/**
 * Creates the environment `dev` of the workspace, which is possible once its organisation is known. Returns false until
 * then.
 */
async function openDev(): Promise<boolean> {
  const error = await failure(person.createEnvironment({ body: { environment: 'dev', description: '' } }));
  return error === null || (isAppError(error) && error.code === 'ALREADY_EXISTS');
}

function doorOf(bearer: string, more: Record<string, string> = {}): Door {
  const headers = { authorization: `Bearer ${bearer}`, 'x-workspace-id': ada.workspaceId, ...more };
  const ofAll = {
    ...routes.commercialRoutes,
    ...routes.controlPlaneRoutes,
    ...routes.gatewayRoutes,
    evaluate,
    listBudgets,
  };
  return createClient(ofAll, { baseUrl: system.gatewayUrl, headers: () => headers }) as Door; // no test here calls a name that two services share
}

async function newKey(more: object = {}): Promise<{ door: Door; id: string }> {
  const body = { name: 'ci', role: 'partner', scopes: ['basic:read', 'basic:write'], environment: 'dev', ...more };
  const made = (await person.createBasicKey({ body: body as never })).body; // the lifetime has a default
  return { door: doorOf(made.key), id: made.key_id };
}

/** Another person, who is a partner in the same workspace. */
async function partner(): Promise<Door> {
  const email = address(`partner-${count}`);
  const [params, invited] = [{ id: ada.workspaceId }, await signIn(system, email)];
  const { inviteToken: token } = (await ada.client.createInvite({ params, body: { email, role: 'partner' } as never }))
    .body; // branded by the schema
  await invited.client.acceptInvite({ params: { token }, body: { email } });
  return doorOf(invited.token);
}

async function receiverOf(): Promise<{ url: string; ids: unknown[]; close(): void }> {
  const ids: unknown[] = [];
  const server = createServer((req, res) => {
    ids.push(req.headers['webhook-id']);
    res.writeHead(204).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo; // a TCP server has this address type
  return { url: `http://127.0.0.1:${port}/hook`, ids, close: () => server.close() };
}

const refusal = (code: string) => expect.objectContaining({ code });
const failure = (call: Promise<unknown>) =>
  call.then(
    () => null,
    (error: unknown) => error,
  );

/** Makes the person's session six hours old. */
async function leaveOpen(): Promise<void> {
  const [session] = (await ada.client.listSessions()).body.data;
  const statement = "UPDATE sessions SET created_at = created_at - interval '6 hours' WHERE id = $1";
  await inDatabase(system.dataDir, { schema: 'gateway', statement, values: [session?.id] });
}

describe('each object of the basic API', () => {
  verifies('cg.doors', 'has the same id and state at both APIs, for a person and for a key', async () => {
    const { door, id } = await newKey();
    const asRead = { limit: 50 };
    const { body: incident } = await door.createBasicIncident({ body: { ...report, receipts: [] } });
    expect(incident.opened_by).toBe(`key:dev:${id}`);
    const params = { incident_id: incident.incident_id };
    expect((await person.getIncident({ params })).body).toEqual(incident);
    const { headers } = await door.listBasicIncidents({ query: { ...asRead, ...params } });
    const move = { ...params, to: 'acked', note: 'Mine', standing: [] } as const;
    const tagged = { 'if-match': headers.get('etag') ?? '' };
    const moved = await door.transitionBasicIncident({ body: { ...move, standing: [] }, headers: tagged });
    expect((await person.getIncident({ params })).body).toEqual(moved.body);
    expect((await door.listBasicIncidents({ query: asRead })).body).toEqual(
      (await person.listIncidents({ query: asRead })).body,
    );
    const { body: plan } = await door.createBasicPlan({ body: { steps, ttl_seconds: 600 } });
    expect(plan.asked_by).toBe(PrincipalId.parse(`key:dev:${id}`));
    const ofPlan = { params: { plan_id: plan.plan_id } };
    expect((await person.getPlan(ofPlan)).body).toEqual(plan);
    const radius = await door.createBasicBlastRadius({ body: { steps } });
    expect(radius.body).toEqual((await person.createBlastRadius({ body: { steps } })).body);
    const named = { plan_id: plan.plan_id, plan_hash: plan.plan_hash };
    await person.approveBasicPlan({ body: named });
    const committed = await person.commitBasicPlan({ body: named });
    expect(committed.body).toMatchObject({ state: 'committed' });
    expect((await person.getPlan(ofPlan)).body).toEqual(committed.body);
    for (const each of [door, person])
      expect((await each.listBasicPlans({ query: { limit: 20 } })).body.data).toEqual([committed.body]);

    const workspace = (await person.getConsoleWorkspace({ params: { id: ada.workspaceId } })).body;
    for (const each of [door, person]) {
      expect((await each.listBasicMembers()).body.data).toEqual(workspace.members);
      const [listed] = (await each.listBasicWorkspaces()).body.data;
      expect(listed).toMatchObject({ workspace_id: ada.workspaceId, org_id: orgId, name: workspace.name });
      expect((await each.listBasicKeys({ query: asRead })).body.data).toMatchObject([
        { key_id: id, environment: 'dev' },
      ]);
    }
    const { body: added } = await person.createBasicWorkspace({ body: { name: 'Refunds' } });
    const { data } = (await person.listConsoleWorkspaces()).body;
    expect(data).toContainEqual(expect.objectContaining({ workspace_id: added.workspace_id, name: 'Refunds' }));
  });

  verifies(
    'cg.doors',
    'has the same id and state at both APIs, before and after its decision, publication, subscription and delivery',
    async () => {
      const { door, id } = await newKey({ scopes: ['basic:read', 'basic:write', 'runtime', 'agent'] });
      const bob = await partner();
      const each = [door, person, bob];
      const call = { action: 'tool.call', session_id: 's-1', args: {}, tool: 'mail.send', effect_level: 'E3' } as const;
      const request = (await door.evaluate({ body: call as never })).body; // the other members have defaults
      const approval_id = request.approval?.approval_id ?? ('' as never); // the starter policy escalates E3
      const ofApproval = { params: { approval_id } };
      const expectSameApproval = async (state: string) => {
        for (const one of each) {
          const inConsole = (await one.listInboxApprovals({ params: { id: ada.workspaceId }, query: all })).body;
          expect((await one.listBasicApprovals({ query: all })).body).toEqual(inConsole);
          expect(inConsole.data).toMatchObject([{ approval_id, state, requested_by: `key:dev:${id}` }]);
        }
      };
      await expectSameApproval('pending');
      const [shown] = (await bob.listBasicApprovals({ query: all })).body.data;
      const headers = { 'if-match': `"${shown?.ceremony_hash}"` };
      const approve = { ...ofApproval, body: { decision: 'approve' } as const, headers };
      const again = { ...approve, params: { id: ada.workspaceId, approval_id } as never };
      for (const own of [person.resolveBasicApproval(approve), person.resolveApproval(again)])
        expect(await failure(own)).toEqual(refusal('PERMISSION_DENIED'));
      expect(await failure(door.resolveBasicApproval(approve))).toEqual(refusal('PERMISSION_DENIED'));
      await expectSameApproval('pending');
      expect((await bob.resolveBasicApproval(approve)).body.state).toBe('approved');
      await expectSameApproval('approved');
      const refusedBoth = [await failure(bob.resolveApproval(again)), await failure(bob.resolveBasicApproval(approve))];
      expect(refusedBoth.map((error) => isAppError(error) && error.code)).toEqual(
        Array(2).fill(expect.stringMatching(/^(ILLEGAL_TRANSITION|PRECONDITION_FAILED)$/)),
      );

      const { body: handle } = await person.createBasicEvidence({
        body: { object_id: request.receipt_id, public: true, expires_in_seconds: 600 },
      });
      expect(handle).toMatchObject({ kind: 'receipt', public: true });
      expect((await person.getEvidenceHandle({ params: { handle: handle.handle } })).body).toEqual(handle);
      for (const one of [door, person]) {
        const listed = (await one.listBasicEvidence({ query: all })).body;
        expect(listed.data).toMatchObject([{ handle: handle.handle, object_id: request.receipt_id }]);
        expect((await one.listEvidenceHandles({ query: all })).body).toEqual(listed);
        expect((await person.listBudgets({ query: all })).body.data).toMatchObject([{ budget_id: expect.any(String) }]);
        expect((await one.getSpendSummary({ query: all })).body).toEqual(
          (await person.listBudgets({ query: all })).body,
        );
      }
      await person.revokeEvidenceHandle({ params: { handle: handle.handle } });
      expect((await door.listBasicEvidence({ query: all })).body.data).toEqual([]);

      const receiver = await receiverOf();
      const hook = { channel: 'webhook', target: receiver.url, event_types: ['app.order.paid'] } as const;
      const wanted = { ...hook, event_types: [...hook.event_types] };
      const { subscription_id, secret, status } = (await person.putBasicSubscription({ body: wanted })).body;
      const [atGateway] = (await person.listSubscriptions({ params: { id: ada.workspaceId } })).body.data;
      expect(secret).toMatch(/^whsec_/);
      expect(atGateway).toMatchObject({ id: subscription_id, state: status, target: hook.target });
      expect((await person.putBasicSubscription({ body: wanted })).body).toMatchObject({
        subscription_id,
        secret: null,
      });
      const event = { type: 'app.order.paid', dedupe_key: 'order-1', data: { order: 1 } };
      const { body: emitted } = await door.emitBasicEvent({ body: event });
      expect(emitted).toMatchObject({ deliveries: 1, emitted_by: `key:dev:${id}` });
      expect((await person.emitBasicEvent({ body: event })).body).toEqual(emitted);
      const delivered = (attempts: number) =>
        untilAnswered(async () => {
          const [one] = (await person.listBasicDeliveries({ query: { ...all, subscription_id } })).body.data;
          return one?.state === 'delivered' && receiver.ids.length === attempts && one;
        });
      const { delivery_id, event_id, ...delivery } = await delivered(1);
      expect([event_id, delivery.subscription_id]).toEqual([emitted.event_id, subscription_id]);
      const [same] = (await person.listDeliveries({ params: { id: ada.workspaceId } })).body.data;
      expect(same).toMatchObject({
        id: delivery_id,
        eventId: event_id,
        state: 'delivered',
        endedAt: delivery.ended_at,
      });
      expect(await failure(bob.redriveBasicDelivery({ params: { delivery_id } }))).toEqual(
        refusal('PERMISSION_DENIED'),
      );
      const redriven = (await person.redriveBasicDelivery({ params: { delivery_id } })).body;
      expect(redriven).toMatchObject({ delivery_id, event_id, state: 'due', attempts: 0 });
      await delivered(2);
      expect(receiver.ids).toEqual([delivery_id, delivery_id]);
      receiver.close();

      const running = await untilAnswered(async () => {
        const { body } = await person.getRuntimeStatus();
        return body.state === 'running' && body;
      });
      expect((await door.getRuntimeStatus()).body).toEqual(running);
      await door.stopRuntime();
      const stopped = await untilAnswered(async () => {
        const { body } = await person.getRuntimeStatus();
        return body.state === 'stopped' && body;
      });
      expect(stopped.changed_by).toBe(`key:dev:${id}`);
      expect((await door.getRuntimeStatus()).body).toEqual(stopped);
      expect(await failure(door.startRuntime())).toEqual(refusal('PERMISSION_DENIED'));
    },
  );

  verifies('cg.doors', 'requires the same precondition and proof of presence as at the other API', async () => {
    const { body: incident } = await person.createBasicIncident({ body: { ...report, receipts: [] } });
    const move = { incident_id: incident.incident_id, to: 'acked', note: 'Mine', standing: [] } as const;
    const body = { ...move, standing: [] };
    expect(await failure(person.transitionBasicIncident({ body }))).toEqual(refusal('PRECONDITION_REQUIRED'));
    const stale = { 'if-match': '"99"' };
    expect(await failure(person.transitionBasicIncident({ body, headers: stale }))).toEqual(
      refusal('PRECONDITION_FAILED'),
    );
    const { body: plan } = await person.createBasicPlan({ body: { steps, ttl_seconds: 600 } });
    const named = { plan_id: plan.plan_id, plan_hash: plan.plan_hash };
    expect(await failure(person.commitBasicPlan({ body: named }))).toEqual(refusal('ILLEGAL_TRANSITION'));
    await person.approveBasicPlan({ body: named });
    await leaveOpen();
    const late = refusal('REAUTHENTICATION_REQUIRED');
    expect(await failure(person.commitBasicPlan({ body: named }))).toEqual(late);
    expect(await failure(newKey())).toEqual(late);
    expect(await failure(person.createBasicMember({ body: { email: address('late'), role: 'member' } }))).toEqual(late);
    expect((await person.getPlan({ params: { plan_id: plan.plan_id } })).body).toMatchObject({ state: 'approved' });
  });
});

describe('an API key', () => {
  verifies(
    'cg.keys',
    'works within its scopes until it is revoked, and never approves, commits, resumes or makes keys',
    async () => {
      const [{ door, id }, reader] = [await newKey(), await newKey({ scopes: ['basic:read'] })];
      const forbidden = refusal('PERMISSION_DENIED');
      const { body: plan } = await door.createBasicPlan({ body: { steps, ttl_seconds: 600 } });
      const named = { plan_id: plan.plan_id, plan_hash: plan.plan_hash };
      const ofPlan = { params: { plan_id: plan.plan_id }, body: { plan_hash: plan.plan_hash } };
      const acts = [
        () => door.approveBasicPlan({ body: named }),
        () => door.commitBasicPlan({ body: named }),
        () => door.approvePlan(ofPlan),
        () => door.commitPlan(ofPlan),
        () => door.resumeTarget({ body: { target: 'agent:crawler', reason: 'x' } }),
        () => door.createBasicKey({ body: { name: 'more' } as never }), // the other members have defaults
        () => door.createApiKey({ body: { name: 'more' } as never }),
        () => door.revokeBasicKey({ params: { key_id: id } }),
        () => door.createBasicWorkspace({ body: { name: 'More' } }),
        () => reader.door.createBasicIncident({ body: { ...report, receipts: [] } }),
        () => reader.door.createBasicPlan({ body: { steps, ttl_seconds: 600 } }),
      ];
      for (const act of acts) expect(await failure(act())).toEqual(forbidden);
      expect((await person.getPlan({ params: ofPlan.params })).body).toMatchObject({ state: 'draft' });
      expect((await reader.door.listBasicPlans({ query: { limit: 20 } })).body.data).toHaveLength(1);
      await person.revokeBasicKey({ params: { key_id: id } });
      expect(await failure(door.listBasicMembers())).toEqual(refusal('CREDENTIALS_INVALID'));
    },
  );
});
