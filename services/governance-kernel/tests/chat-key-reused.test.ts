import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newSession } from './_caller.ts';
import { adminKey } from './_kernel.ts';
import { approve, receiptsOf, startUpstreams, type Upstreams } from './_upstreams.ts';

const policy = `
format: countersign/policy.v1
name: asked
version: '1'
rules:
  - { id: large, effect: escalate, match: { action: [model.call], resource: [large] } }
  - { id: refused, effect: deny, match: { action: [model.call], resource: [forbidden] } }
  - { id: all, effect: allow }
`;
let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams();
  await upstreams.test.activate('acme', policy);
});
afterAll(() => upstreams.close());

type Asking = { key: string; session?: string; grant?: string; model?: string; content?: string };
type Report = { choices?: unknown[]; error?: { code: string; details?: { approval?: { approval_id: string } } } };

async function ask({ key, session, grant, model = 'scripted', content = key }: Asking) {
  const response = await fetch(`${upstreams.test.kernel.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${adminKey}`, 'x-gov-tenant-id': 'acme', 'content-type': 'application/json' },
      'idempotency-key': key,
      ...(session === undefined ? {} : { 'x-gov-session-id': session }),
      ...(grant === undefined ? {} : { 'x-gov-approval-grant': grant }),
    },
    body: JSON.stringify({ model, messages: [{ role: 'user', content }] }),
  });
  const { error } = (await response.json()) as Report;
  const isReplayed = response.headers.get('idempotency-replayed') === 'true';
  return {
    said: [response.status, error?.code ?? null, isReplayed],
    receipt: response.headers.get('x-gov-receipt-id'),
    approval: error?.details?.approval?.approval_id ?? '',
  };
}

const answered = [200, null, false];
const again = [200, null, true];
const conflict = [422, 'IDEMPOTENCY_KEY_REUSED', false];
const timesAsked = (content: string) => upstreams.model.requests.filter(({ body }) => body.includes(content)).length;

describe('an idempotency key that is repeated in another session', () => {
  it('is refused without the answer or receipt of the first request, which can still be repeated', async () => {
    const [key, second] = [newSession(), newSession()];
    expect((await ask({ key, session: key })).said).toEqual(answered);
    const elsewhere = await ask({ key, session: second });
    expect([elsewhere.said, elsewhere.receipt]).toEqual([conflict, null]);
    expect((await ask({ key })).said).toEqual(conflict);
    expect((await ask({ key, session: key })).said).toEqual(again);
    expect(timesAsked(key)).toBe(1);
    expect(await receiptsOf(upstreams.test, second)).toEqual([]);
  });

  it('is refused as reused, even if the first request was denied', async () => {
    const key = newSession();
    const refused = { key, session: key, model: 'forbidden' };
    expect((await ask(refused)).said).toEqual([403, 'policy_denied', false]);
    expect((await ask({ ...refused, session: newSession() })).said).toEqual(conflict);
    expect((await ask(refused)).said).toEqual([403, 'policy_denied', true]);
  });
});

describe('a call that a person has approved', () => {
  it('is allowed and replayed under a new key; with its grant, the old key is refused as reused', async () => {
    const content = newSession();
    const asking = { key: `${content}-asked`, session: content, model: 'large', content };
    const { said, approval: grant } = await ask(asking);
    expect(said).toEqual([403, 'approval_required', false]);
    await approve(upstreams.test, grant);
    expect((await ask(asking)).said).toEqual([403, 'approval_required', true]);
    expect((await ask({ ...asking, grant })).said).toEqual(conflict);
    expect(timesAsked(content)).toBe(0);

    const granted = { ...asking, key: `${content}-granted`, grant };
    expect((await ask(granted)).said).toEqual(answered);
    expect((await ask(granted)).said).toEqual(again);
    expect((await ask({ ...granted, grant: `${grant.slice(0, -1)}${grant.endsWith('0') ? '1' : '0'}` })).said).toEqual(
      conflict,
    );
    expect((await ask({ ...asking, key: granted.key })).said).toEqual(conflict);
    expect(timesAsked(content)).toBe(1);
  });
});
