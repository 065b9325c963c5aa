import { beforeAll, beforeEach, describe, expect } from '@jest/globals';
import { createClient, isAppError, PrincipalId, type Client } from '@countersign/contracts';
import * as routes from '@countersign/contracts/routes';
import { untilAnswered } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';
import { addressBook, inDatabase, signIn, type SignedIn } from './_system.ts';

type Door = Client<typeof routes.commercialRoutes & typeof routes.controlPlaneRoutes & typeof routes.gatewayRoutes>;

const timeoutMs = 180_000;
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
}, timeoutMs);

beforeEach(async () => {
  ada = await signIn(system, address(`doors-${(count += 1)}`));
  person = doorOf(ada.token);
  orgId = (await person.bootstrapOrg({ body: { name: `Doors ${count}` } })).body.org_id;
  // The commercial gateway hears of the organisation and of its workspace by events.
  await untilAnswered(openDev);
}, timeoutMs);

/** Opens `dev` as soon as the organisation of the workspace is known. False until then. */
async function openDev(): Promise<boolean> {
  const error = await failure(person.createEnvironment({ body: { environment: 'dev', description: '' } }));
  return error === null || (isAppError(error) && error.code === 'ALREADY_EXISTS');
}

function doorOf(bearer: string, more: Record<string, string> = {}): Door {
  const headers = { authorization: `Bearer ${bearer}`, 'x-workspace-id': ada.workspaceId, ...more };
  const all = { ...routes.commercialRoutes, ...routes.controlPlaneRoutes, ...routes.gatewayRoutes };
  return createClient(all, { baseUrl: system.gatewayUrl, headers: () => headers }) as Door; // names that two services share are not called here
}

async function newKey(more: object = {}): Promise<{ door: Door; id: string }> {
  const body = { name: 'ci', role: 'partner', scopes: ['basic:read', 'basic:write'], environment: 'dev', ...more };
  const made = (await person.createBasicKey({ body: body as never })).body; // its lifetime has a default
  return { door: doorOf(made.key), id: made.key_id };
}

const refusal = (code: string) => expect.objectContaining({ code });
const failure = (call: Promise<unknown>) =>
  call.then(
    () => null,
    (error: unknown) => error,
  );

/** Six hours pass since the person signed in. */
async function leaveOpen(): Promise<void> {
  const [session] = (await ada.client.listSessions()).body.data;
  const statement = "UPDATE sessions SET created_at = created_at - interval '6 hours' WHERE id = $1";
  await inDatabase(system.dataDir, { schema: 'gateway', statement, values: [session?.id] });
}

describe('each object of the basic API', () => {
  verifies(
    'cg.doors',
    'has the same id and state at both doors, for a person and for a key',
    async () => {
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
        expect((await each.listBasicEvidence({ query: asRead })).body.data).toEqual([]);
        expect((await each.listBasicApprovals({ query: asRead })).body.data).toEqual([]);
      }
      const { body: added } = await person.createBasicWorkspace({ body: { name: 'Refunds' } });
      const { data } = (await person.listConsoleWorkspaces()).body;
      expect(data).toContainEqual(expect.objectContaining({ workspace_id: added.workspace_id, name: 'Refunds' }));
    },
    timeoutMs,
  );

  verifies(
    'cg.doors',
    'changes under the precondition and with the presence that hold at the other door',
    async () => {
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
      expect(await failure(person.createBasicMember({ body: { email: address('late'), role: 'member' } }))).toEqual(
        late,
      );
      expect((await person.getPlan({ params: { plan_id: plan.plan_id } })).body).toMatchObject({ state: 'approved' });
    },
    timeoutMs,
  );
});

describe('an API key', () => {
  verifies(
    'cg.keys',
    'works within its scopes and until it is revoked, and never approves, commits, resumes or makes keys',
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
        () => door.createBasicKey({ body: { name: 'more' } as never }), // its other members have defaults
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
    timeoutMs,
  );
});
