import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PublicApproval, PublicReceipt } from '@countersign/contracts/control-plane';
import { nodeProvider } from '@countersign/crypto/node';
import type { StartedSystem } from '@countersign/local';
import { parseKeySet, verifyOriginal, verifyPublicReceipt } from '@countersign/verifier';
import { kernelClient, scratchDataDir, signIn, startIn, type SignedIn } from './_system.ts';
import { Tab } from './_tab.ts';

const dataDir = scratchDataDir();
const timeoutMs = 240_000;
const unknownUlid = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const unknownHandle = `hdl_${'A'.repeat(22)}`;
let system: StartedSystem;
let ada: Person;
let eve: Person;
/** Two calls of Ada's agent: one that was allowed, one that asks. */
let allowed: Members;
let asked: Members;

type Members = Record<string, unknown>;
type Person = SignedIn & { tab: Tab };

beforeAll(async () => {
  system = await startIn(dataDir.path, { GOV_RATE_LIMITS: '0' });
  [ada, eve] = [await person('ada@example.org'), await person('eve@example.org')];
  allowed = await call(ada, { tool: 'crm.read', effect_level: 'E1' });
  asked = await call(ada, { tool: 'mail.send', effect_level: 'E3' });
}, timeoutMs);

afterAll(async () => {
  await system?.stop();
  dataDir.remove();
}, timeoutMs);

async function person(email: string): Promise<Person> {
  const signedIn = await signIn(system, email);
  const tab = new Tab(system.gatewayUrl);
  await tab.signIn(email);
  return { ...signedIn, tab };
}

async function call({ client }: Person, members: object): Promise<Members> {
  const { key } = (await client.createApiKey({ body: { name: 'secret-agent' } as never })).body; // its defaults are the schema's
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ action: 'tool.call', session_id: 'secret-session', args: { secret: 1 }, ...members });
  const response = await fetch(new URL('/api/v1/evaluate', system.gatewayUrl), { method: 'POST', headers, body });
  return (await response.json()) as Members;
}

const here = ({ workspaceId }: Person) => ({ 'x-workspace-id': workspaceId, 'x-request-id': 'the-same-request' });
const make = (who: Person, body: Members) =>
  who.tab.send('/api/audit/handles', { method: 'POST', body, headers: here(who) });
const open = (path: string, who = ada) => who.tab.send(`/api/evidence/${path}`, { headers: here(who) });
const revoke = (handle: string, who = ada) =>
  who.tab.send(`/api/evidence/${handle}`, { method: 'DELETE', headers: here(who) });

async function published(object_id: unknown, more: Members = {}): Promise<string> {
  const { status, body, text } = await make(ada, { object_id, public: true, ...more });
  expect([status, text]).toEqual([201, text]);
  return String(body['handle']);
}

/** As a stranger: no cookie, no key. */
async function read(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(new URL(`/api/public/${path}`, system.gatewayUrl), {
    headers: { 'x-request-id': 'the-same-request', ...headers },
  });
  const told = Object.fromEntries([...response.headers].filter(([name]) => !['date', 'traceparent'].includes(name)));
  return { status: response.status, text: await response.text(), headers: told };
}

describe('a published receipt', () => {
  it(
    'shows strangers the members that the contract names, by its handle and by its id, and proves its place in the log',
    async () => {
      const receiptId = String(allowed['receipt_id']);
      const handle = await published(receiptId);
      const { status, text } = await read(`verify/${handle}`);
      expect(status).toBe(200);
      expect((await read(`verify/${receiptId}`)).text).toBe(text);
      const shown = JSON.parse(text) as Members;
      expect(Object.keys(shown).sort()).toEqual(Object.keys(PublicReceipt.shape).sort());
      expect(shown).toMatchObject({ receipt_id: receiptId, verdict: 'ALLOW', status: 'sealed' });
      expect(shown['issued_at']).toMatch(/:00\.000Z$/);
      for (const secret of [ada.workspaceId, 'secret', 'crm.read', 'usr_', 'tool.call'])
        expect(text).not.toContain(secret);
      const { keys } = await json('/api/v1/signing-key');
      const claim = { trust: parseKeySet({ keys }), provider: nodeProvider };
      expect(verifyPublicReceipt(shown, claim).size).toBe((shown['log'] as Members)['tree_size']);
      const original = (await kernelClient(system, ada.workspaceId).getReceipt({ params: { receipt_id: receiptId } }))
        .body;
      verifyOriginal(original, shown, claim);
      const told = (name: string, value: unknown) => () => verifyOriginal(original, { ...shown, [name]: value }, claim);
      expect(told('verdict', 'DENY')).toThrow(expect.objectContaining({ code: 'SUBJECT_MISMATCH' }));
      expect(told('receipt_hash', `sha256:${'0'.repeat(64)}`)).toThrow(
        expect.objectContaining({ code: 'HASH_MISMATCH' }),
      );
      const log = { ...(shown['log'] as Members), index: Number((shown['log'] as Members)['index']) + 1 };
      expect(() => verifyPublicReceipt({ ...shown, log }, claim)).toThrow(
        expect.objectContaining({ code: 'INCLUSION_UNPROVEN' }),
      );
    },
    timeoutMs,
  );

  it('is decided by the kernel first: the decision is sealed, and names exactly what becomes public and for how long', async () => {
    const { body } = await make(ada, { object_id: allowed['receipt_id'], public: true, expires_in_seconds: 600 });
    const decision = (
      await kernelClient(system, ada.workspaceId).getReceipt({ params: { receipt_id: String(body['receipt_id']) } })
    ).body.payload;
    const { receipt_id, receipt_hash } = body['shown'] as Members;
    expect(decision).toMatchObject({ action: 'evidence.publish', verdict: 'ALLOW', effect_level: 'E3' });
    expect(decision.resource).toBe(`receipt/${String(receipt_id)}?hash=${String(receipt_hash)}&seconds=600`);
  });

  it('a published approval shows its state, and nothing of the call that it is about', async () => {
    const approvalId = String((asked['approval'] as Members)['approval_id']);
    const handle = await published(approvalId);
    const { text } = await read(`approval/${handle}`);
    expect((await read(`approval/${approvalId}`)).text).toBe(text);
    expect(Object.keys(JSON.parse(text) as Members).sort()).toEqual(Object.keys(PublicApproval.shape).sort());
    expect(JSON.parse(text)).toMatchObject({ state: 'pending', quorum: 1, approved: 0, method: 'votes' });
    for (const secret of ['secret', 'mail.send', ada.workspaceId]) expect(text).not.toContain(secret);
    // A handle opens what it names, and nothing else by another route.
    expect((await read(`verify/${handle}`)).status).toBe(404);
  });
});

describe('what is not public', () => {
  it(
    'is one 404 with the same bytes, whether it is unknown, foreign, private, over or taken back',
    async () => {
      const other = await call(ada, { tool: 'crm.read', effect_level: 'E1' });
      const foreign = await call(eve, { tool: 'crm.read', effect_level: 'E1' });
      const quiet = await make(ada, { object_id: other['receipt_id'] });
      expect([quiet.status, quiet.body['url'], quiet.body['receipt_id']]).toEqual([201, null, null]);
      const taken = await published(asked['receipt_id']);
      expect((await revoke(taken)).status).toBe(200);
      const answers = new Set<string>();
      const names = [
        ...[unknownHandle, `rcp_${unknownUlid}`, 'nonsense', '%00', `..%2F${unknownHandle}`],
        ...[String(quiet.body['handle']), other['receipt_id'], foreign['receipt_id'], taken, asked['receipt_id']],
      ].map(String);
      for (const name of names) {
        const { status, text, headers } = await read(`verify/${name}`);
        expect([name, status]).toEqual([name, 404]);
        answers.add(JSON.stringify([text, headers]));
      }
      expect((await read(`approval/${unknownHandle}`)).text).toBe((await read(`verify/${unknownHandle}`)).text);
      expect(answers.size).toBe(1);
    },
    timeoutMs,
  );

  it(
    'answers no slower for having been something: taken back, private and unknown take the same time within noise',
    async () => {
      const taken = await published(allowed['receipt_id'], { expires_in_seconds: 60 });
      await revoke(taken);
      const quiet = String((await make(ada, { object_id: allowed['receipt_id'] })).body['handle']);
      const times: Record<string, number[]> = { [unknownHandle]: [], [taken]: [], [quiet]: [] };
      for (let round = 0; round < 150; round += 1)
        for (const [name, measured] of Object.entries(times)) {
          const from = performance.now();
          await read(`verify/${name}`);
          measured.push(performance.now() - from);
        }
      const medians = Object.values(times).map((each) => each.sort((a, b) => a - b)[each.length / 2] ?? 0);
      expect(Math.max(...medians) / Math.min(...medians)).toBeLessThan(1.25);
    },
    timeoutMs,
  );

  it("a session changes nothing, whosever it is: not even the owner's", async () => {
    const handle = await published(allowed['receipt_id']);
    const other = await call(ada, { tool: 'crm.read', effect_level: 'E1' });
    for (const name of [handle, String(other['receipt_id'])]) {
      const { status, text } = await read(`verify/${name}`);
      const within = await ada.tab.send(`/api/public/verify/${name}`, { headers: here(ada) });
      expect([within.status, within.text]).toEqual([status, text]);
    }
  });
});

describe('a handle', () => {
  it(
    "opens for its own workspace alone, until it is taken back; both stand in that workspace's log without it",
    async () => {
      const { handle } = (await make(ada, { object_id: allowed['receipt_id'] })).body as { handle: string };
      expect((await open(handle)).body).toMatchObject({ handle, kind: 'receipt', public: false });
      const unknown = await open(unknownHandle, eve);
      expect([(await open(handle, eve)).text, (await revoke(handle, eve)).text]).toEqual([unknown.text, unknown.text]);
      expect((await revoke(handle)).body).toEqual({ revoked: true });
      expect([(await open(handle)).status, (await revoke(handle)).status]).toEqual([404, 404]);
      const { body, text } = await ada.tab.send(`/api/audit/entries?workspace_id=${ada.workspaceId}&limit=2`);
      const entries = body['data'] as Members[];
      expect(entries.map(({ action }) => action)).toEqual(['evidence.handle_revoked', 'evidence.handle_made']);
      expect(text).not.toContain(handle);
    },
    timeoutMs,
  );

  it("is made of nothing that is another's", async () => {
    const foreign = await make(eve, { object_id: allowed['receipt_id'], public: true });
    const unknown = await make(eve, { object_id: `rcp_${unknownUlid}`, public: true });
    expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
  });

  it('is not published where the kernel refuses: nothing becomes public, and a private one is still made', async () => {
    const { receipt_id: object_id } = await call(eve, { tool: 'crm.read', effect_level: 'E1' });
    const stop = { target: `workspace:${eve.workspaceId}`, reason: 'a leak' };
    const frozen = await eve.tab.send('/api/ops/freeze', { method: 'POST', body: stop, headers: here(eve) });
    expect(frozen.body).toMatchObject({ state: 'effective' });
    const { status, body } = await make(eve, { object_id, public: true });
    expect([status, (body['error'] as Members)['code']]).toEqual([403, 'POLICY_DENIED']);
    expect((await read(`verify/${String(object_id)}`)).status).toBe(404);
    expect((await make(eve, { object_id })).status).toBe(201);
  });
});

async function json(path: string): Promise<Members> {
  return (await (await fetch(new URL(path, system.gatewayUrl))).json()) as Members;
}
