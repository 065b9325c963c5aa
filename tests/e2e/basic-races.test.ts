import { beforeAll, describe, expect } from '@jest/globals';
import { createClient, isAppError, type Client } from '@countersign/contracts';
import { evaluate } from '@countersign/contracts/governance-kernel';
import * as routes from '@countersign/contracts/routes';
import { untilAnswered } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { joined, personAt, type Person } from './_signed-in.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';
import { addressBook, kernelClient } from './_system.ts';

const address = addressBook();
const both = { ...routes.commercialRoutes, ...routes.controlPlaneRoutes };
const rounds = 4;

type Door = Client<typeof both>;

let system: SharedSystem;
let ada: Person;
let bob: Person;
let key: string;

beforeAll(async () => {
  system = await sharedSystem();
  ada = await personAt(system.gatewayUrl, address('ada'));
  bob = await joined(ada, await personAt(system.gatewayUrl, address('bob')), 'partner');
  const body = { name: 'agent', role: 'partner', scopes: ['agent', 'basic:write'], expiresInDays: 1 } as const;
  key = (await ada.client.createApiKey({ body: { ...body, scopes: [...body.scopes] } })).body.key;
  await untilAnswered(() =>
    doorOf(ada.token)
      .listBasicMembers()
      .then(
        () => true,
        () => false,
      ),
  );
});

function doorOf(bearer: string): Door {
  const headers = { authorization: `Bearer ${bearer}`, 'x-workspace-id': ada.workspaceId };
  return createClient(both, { baseUrl: system.gatewayUrl, headers: () => headers });
}

async function outcomesOf(calls: readonly Promise<unknown>[]): Promise<string[]> {
  const settled = await Promise.allSettled(calls);
  return settled.map((one) => {
    if (one.status === 'fulfilled') return 'done';
    return isAppError(one.reason) ? one.reason.code : String(one.reason);
  });
}

describe('two simultaneous requests at the two APIs', () => {
  verifies('cg.doors', 'decide an approval once: it is approved and allows one call, or it is denied', async () => {
    const agent = createClient(
      { evaluate },
      { baseUrl: system.gatewayUrl, headers: () => ({ authorization: `Bearer ${key}` }) },
    );
    const person = doorOf(bob.token);
    for (let round = 0; round < rounds; round += 1) {
      const session_id = `race-${round}`;
      const call = { action: 'tool.call', session_id, args: {}, tool: 'mail.send', effect_level: 'E3' };
      const asks = async () => (await agent.evaluate({ body: call as never })).body; // the other members have defaults
      const approval_id = (await asks()).approval?.approval_id ?? ('' as never); // the starter policy escalates E3
      const query = { approval_id, limit: 1 };
      const [shown] = (await person.listBasicApprovals({ query })).body.data;
      const headers = { 'if-match': `"${shown?.ceremony_hash}"` };
      const params = { id: ada.workspaceId as never, approval_id }; // branded by the schema
      const outcomes = await outcomesOf([
        person.resolveBasicApproval({ params: { approval_id }, body: { decision: 'approve' }, headers }),
        person.resolveApproval({ params, body: { decision: 'deny', reason: 'No' }, headers }),
      ]);
      expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1);
      const state = outcomes[0] === 'done' ? 'approved' : 'denied';
      expect((await person.listInboxApprovals({ params: { id: ada.workspaceId }, query })).body.data).toMatchObject([
        { state },
      ]);
      const verdicts = (await Promise.all([asks(), asks(), asks()])).map(({ verdict }) => verdict);
      expect(verdicts.filter((verdict) => verdict === 'ALLOW')).toHaveLength(state === 'approved' ? 1 : 0);
    }
  });

  verifies('cg.doors', 'commit a plan once, and record an event once', async () => {
    const person = doorOf(ada.token);
    for (let round = 0; round < rounds; round += 1) {
      const steps = [{ kind: 'freeze', target: `agent:crawler-${round}`, reason: 'It was seen' }];
      const { plan_id, plan_hash } = (await person.createBasicPlan({ body: { steps, ttl_seconds: 600 } as never }))
        .body; // as above
      const named = { params: { plan_id }, body: { plan_hash } };
      await Promise.allSettled([person.approveBasicPlan({ body: { plan_id, plan_hash } }), person.approvePlan(named)]);
      const commits = Array.from({ length: 4 }, (_, nth) =>
        nth % 2 === 0 ? person.commitBasicPlan({ body: { plan_id, plan_hash } }) : person.commitPlan(named),
      );
      expect(await outcomesOf(commits)).toContain('done');
      expect((await person.getPlan({ params: { plan_id } })).body.state).toBe('committed');
      const ledger = kernelClient(system, ada.workspaceId);
      const { data } = (await ledger.listReceipts({ query: { kind: 'decision', limit: 200 } })).body;
      const resource = (payload: { resource?: string | null }) => payload.resource?.includes(plan_id);
      const decided = data.filter(({ payload }) => payload.action === 'plan.commit' && resource(payload));
      // One decision for the approval, and one for the commit.
      expect(decided.map(({ payload }) => payload.verdict)).toEqual(['ALLOW', 'ALLOW']);
      const { commands } = (await person.getPlan({ params: { plan_id } })).body;
      expect(commands).toHaveLength(1);
    }
    const event = { type: 'app.order.paid', data: { order: 1 } };
    const params = { id: ada.workspaceId };
    const emitted = await Promise.all(
      Array.from({ length: 20 }, async (_, nth) => {
        if (nth % 2 === 1)
          return (await ada.client.emitEvent({ params, body: { ...event, dedupeKey: 'one' } })).body.id;
        return (await doorOf(key).emitBasicEvent({ body: { ...event, dedupe_key: 'one' } })).body.event_id;
      }),
    );
    expect(new Set(emitted).size).toBe(1);
  });
});
