import { beforeAll, describe, expect } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';
import { joined, personAt, type Person } from './_signed-in.ts';
import { addressBook } from './_system.ts';

const address = addressBook();

type Name = 'ada' | 'bob' | 'max' | 'eve';
type Shown = { approval_id: string; ceremony_hash: string; may_decide: boolean; obstacle: string | null };

let system: SharedSystem;
/** Ada owns the workspace, Bob is a partner and Max a member of it. Eve is alone in hers. */
let people: Record<Name, Person>;
let requestCount = 0;

beforeAll(async () => {
  system = await sharedSystem();
  const [ada, bob, max, eve] = (await Promise.all(
    ['ada', 'bob', 'max', 'eve'].map((name) => personAt(system.gatewayUrl, address(name))),
  )) as [Person, Person, Person, Person];
  people = { ada, bob: await joined(ada, bob, 'partner'), max: await joined(ada, max, 'member'), eve };
});

/** A call of an agent with this person's key, which waits for a vote. */
async function questionOf(maker: Person): Promise<string> {
  const headers = { 'x-workspace-id': maker.workspaceId };
  const { key } = (
    await maker.client.createApiKey({ body: { name: `crawler-${(requestCount += 1)}` } as never, headers })
  ).body;
  const session_id = `crawl-${requestCount}`;
  const call = { action: 'tool.call', tool: 'mail.send', args: {}, effect_level: 'E3', session_id };
  const response = await fetch(new URL('/api/v1/evaluate', system.gatewayUrl), {
    ...{ method: 'POST', headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' } },
    body: JSON.stringify(call),
  });
  expect(await response.json()).toMatchObject({ verdict: 'ESCALATE' });
  return session_id;
}

/** The inbox entry of a request for a person, and the result of the person's vote. */
async function saidAndDone(maker: Name, voter: Name) {
  const session = await questionOf(people[maker]);
  const { tab, workspaceId } = people[voter];
  const place = `/api/v1/workspaces/${workspaceId}/approvals`;
  const { body } = await tab.send(`${place}?session_id=${session}&state=pending`);
  const [shown] = body['data'] as [Shown];
  const headers = { 'if-match': `"${shown.ceremony_hash}"` };
  const sent = { method: 'POST', body: { decision: 'approve' }, headers };
  const { status } = await tab.send(`${place}/${shown.approval_id}/resolve`, sent);
  return { said: shown.obstacle ?? shown.may_decide, done: status };
}

describe('the inbox', () => {
  verifies('cp.approval', 'offers each person exactly the votes that take effect', async () => {
    const pairs: [Name, Name][] = [
      ...(['ada', 'bob'] as const).flatMap((maker) =>
        (['ada', 'bob', 'max'] as const).map((voter): [Name, Name] => [maker, voter]),
      ),
      ['eve', 'eve'],
    ];
    const outcomes: Record<string, object> = {};
    for (const [maker, voter] of pairs) outcomes[`${maker}'s key, ${voter}'s vote`] = await saidAndDone(maker, voter);
    const [own, role, free] = [
      { said: 'OWN_REQUEST', done: 403 },
      { said: 'ROLE', done: 403 },
      { said: true, done: 200 },
    ];
    expect(outcomes).toEqual({
      "ada's key, ada's vote": own,
      "ada's key, bob's vote": free,
      "ada's key, max's vote": role,
      "bob's key, ada's vote": free,
      "bob's key, bob's vote": own,
      "bob's key, max's vote": role,
      "eve's key, eve's vote": free,
    });
  });
});
