import { beforeAll, describe, expect, it } from '@jest/globals';
import { PublicApproval, PublicReceipt, PublicReplay, ReplayFindings } from '@countersign/contracts/control-plane';
import { canonicalBytes, digestOf, parsePlainJson } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { verifies } from '@countersign/testkit/verifies';
import { parseKeySet, verifyOriginal, verifyPublicReceipt } from '@countersign/verifier';
import { untilAnswered } from '@countersign/testkit/until';
import { personAt, type Person } from './_signed-in.ts';
import { addressBook, inDatabase, kernelClient } from './_system.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';

const address = addressBook();

const unknownUlid = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const unknownHandle = `hdl_${'A'.repeat(22)}`;
let system: SharedSystem;
let ada: Person;
let eve: Person;
/** The decision on an allowed call of Ada's agent. `request` is the decision on an escalated call. */
let allowed: Members;
let request: Members;
/** Names that are not public. Eve's workspace has public proofs switched off. */
let dead: Record<Kind, string[]>;

type Members = Record<string, unknown>;

beforeAll(async () => {
  system = await sharedSystem();
  [ada, eve] = [await personAt(system.gatewayUrl, address('ada')), await personAt(system.gatewayUrl, address('eve'))];
  allowed = await call(ada, { tool: 'crm.read', effect_level: 'E1' });
  request = await call(ada, { tool: 'mail.send', effect_level: 'E3' });
  dead = await deadNames();
});

const inControlPlane = (statement: string, id: unknown) =>
  inDatabase(system.dataDir, { schema: 'control_plane', statement, values: [id] });

async function call({ client }: Person, members: object): Promise<Members> {
  const { key } = (await client.createApiKey({ body: { name: 'secret-agent' } as never })).body; // the schema adds defaults
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

const ask = (who: Person, path: string, body: Members) =>
  who.tab.send(path, { method: 'POST', body, headers: here(who) });

type Replayed = { replay_id: string; findings: ReplayFindings; details: Members };

async function replayed(question: Members, who = ada): Promise<Replayed> {
  const { status, body } = await ask(who, '/api/v1/replays', question);
  expect(status).toBe(202);
  const replay_id = String(body['replay_id']);
  const done = await untilAnswered(async () => {
    const { body: replay } = await who.tab.send(`/api/v1/workspaces/${who.workspaceId}/replays/${replay_id}`);
    return ['done', 'failed'].includes(String(replay['state'])) && replay;
  });
  expect(done['failure']).toBeNull();
  return { replay_id, findings: ReplayFindings.parse(done['findings']), details: done['details'] as Members };
}

async function setPublicProof(who: Person, public_proof: 'off' | 'published'): Promise<void> {
  const read = await who.tab.send(`/api/v1/workspaces/${who.workspaceId}`);
  const headers = { 'if-match': read.headers.get('etag') ?? '' };
  const body = { name: read.body['name'], public_proof };
  const put = await who.tab.send(`/api/workspaces/${who.workspaceId}`, { method: 'PUT', body, headers });
  expect([put.status, put.body['public_proof']]).toEqual([200, public_proof]);
}

async function published(object_id: unknown, more: Members = {}, who = ada): Promise<string> {
  const { status, body, text } = await make(who, { object_id, public: true, ...more });
  expect([status, text]).toEqual([201, text]);
  return String(body['handle']);
}

const approvalOf = (evaluated: Members) => String((evaluated['approval'] as Members)['approval_id']);

const places = { receipt: '/api/public/verify', approval: '/api/public/approval', replay: '/api/v1/replays' };
type Kind = keyof typeof places;
const kinds = ['receipt', 'approval', 'replay'] as const;
const pathOf = (kind: Kind, name: string) => `${places[kind]}/${name}`;

/** Reads a public object without a cookie or a key. */
async function read(kind: Kind, name: string) {
  const response = await fetch(new URL(pathOf(kind, name), system.gatewayUrl), {
    headers: { 'x-request-id': 'the-same-request' },
  });
  const report = Object.fromEntries([...response.headers].filter(([name]) => !['date', 'traceparent'].includes(name)));
  return { status: response.status, text: await response.text(), headers: report };
}

describe('a published object', () => {
  verifies(
    'cp.public',
    'that is a receipt shows strangers exactly the members of the contract, by its handle and its id, and proves its place in the log',
    async () => {
      const receiptId = String(allowed['receipt_id']);
      const handle = await published(receiptId);
      const { status, text } = await read('receipt', handle);
      expect(status).toBe(200);
      expect((await read('receipt', receiptId)).text).toBe(text);
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
      const reportOf = (name: string, value: unknown) => () =>
        verifyOriginal(original, { ...shown, [name]: value }, claim);
      expect(reportOf('verdict', 'DENY')).toThrow(expect.objectContaining({ code: 'SUBJECT_MISMATCH' }));
      expect(reportOf('receipt_hash', `sha256:${'0'.repeat(64)}`)).toThrow(
        expect.objectContaining({ code: 'HASH_MISMATCH' }),
      );
      const log = { ...(shown['log'] as Members), index: Number((shown['log'] as Members)['index']) + 1 };
      expect(() => verifyPublicReceipt({ ...shown, log }, claim)).toThrow(
        expect.objectContaining({ code: 'INCLUSION_UNPROVEN' }),
      );
    },
  );

  it('needs a sealed decision of the kernel, which states exactly what becomes public and for how long', async () => {
    const { body } = await make(ada, { object_id: allowed['receipt_id'], public: true, expires_in_seconds: 600 });
    const decision = (
      await kernelClient(system, ada.workspaceId).getReceipt({ params: { receipt_id: String(body['receipt_id']) } })
    ).body.payload;
    const { receipt_id, receipt_hash } = body['shown'] as Members;
    expect(decision).toMatchObject({ action: 'evidence.publish', verdict: 'ALLOW', effect_level: 'E3' });
    expect(decision.resource).toBe(`receipt/${String(receipt_id)}?hash=${String(receipt_hash)}&seconds=600`);
  });

  verifies('cp.public', 'that is an approval shows its state, and nothing of its call', async () => {
    const approvalId = approvalOf(request);
    const handle = await published(approvalId);
    const { text } = await read('approval', handle);
    expect((await read('approval', approvalId)).text).toBe(text);
    expect(Object.keys(JSON.parse(text) as Members).sort()).toEqual(Object.keys(PublicApproval.shape).sort());
    expect(JSON.parse(text)).toMatchObject({ state: 'pending', quorum: 1, approved: 0, method: 'votes' });
    for (const secret of ['secret', 'mail.send', ada.workspaceId]) expect(text).not.toContain(secret);
    // A handle opens only its own object, on its own route.
    expect((await read('receipt', handle)).status).toBe(404);
  });
});

describe('a published replay', () => {
  /** The first call of the replayed session. */
  let first: Members;

  beforeAll(async () => {
    first = await call(ada, { tool: 'crm.read', effect_level: 'E1', session_id: 'secret-replay' });
    await call(ada, { tool: 'mail.send', effect_level: 'E3', session_id: 'secret-replay' });
  });

  verifies(
    'cp.replay',
    "reproduces the kernel's decisions, and shows strangers only counts, hashes and verdicts",
    async () => {
      const { replay_id, findings, details } = await replayed({ session_id: 'secret-replay' });
      const { pairs } = findings;
      expect(findings.is_narrowed).toBe(true);
      expect([pairs.map(({ before }) => before), findings.unverifiable]).toEqual([['ALLOW', 'ESCALATE'], 0]);
      expect([pairs.map(({ after }) => after), details['missing']]).toEqual([['ALLOW', 'ESCALATE'], []]);
      expect([findings.first_difference, details['first_difference'], findings.is_whole]).toEqual([null, null, true]);
      expect((await replayed({ session_id: 'secret-replay' })).findings).toEqual({
        ...findings,
        tree_size: expect.any(Number),
        replay_hash: expect.any(String),
      });
      const handle = await published(replay_id);
      const { text } = await read('replay', handle);
      expect((await read('replay', replay_id)).text).toBe(text);
      const shown = JSON.parse(text) as Members;
      expect(Object.keys(shown).sort()).toEqual(Object.keys(PublicReplay.shape).sort());
      const { replay_id: _id, made_at, replay_hash, ...found } = shown;
      expect(made_at).toMatch(/:00\.000Z$/);
      expect(replay_hash).toBe(digestOf(nodeProvider, canonicalBytes(parsePlainJson(found))));
      for (const secret of [ada.workspaceId, 'secret', 'crm', 'mail', 'usr_', 'rcp_', 'tool.call'])
        expect(text).not.toContain(secret);
      const { body } = await make(ada, { object_id: replay_id, public: true });
      const { payload } = (
        await kernelClient(system, ada.workspaceId).getReceipt({ params: { receipt_id: String(body['receipt_id']) } })
      ).body;
      expect(payload.resource).toBe(`replay/${replay_id}?hash=${String(replay_hash)}&seconds=2592000`);
    },
  );

  verifies(
    'cp.replay',
    'names the first decision that a draft changes: to members with its details, and to strangers by its hash',
    async () => {
      const place = `/api/v1/workspaces/${ada.workspaceId}/policy`;
      const { bundle } = (await ada.tab.send(`${place}/active`)).body as { bundle: { rules: object[] } };
      const rules = [...bundle.rules, { id: 'no-reads', effect: 'deny', match: { tool: ['crm.*'] } }];
      const body = { text: JSON.stringify({ ...bundle, rules, tests: [] }) };
      await ada.tab.send(`${place}/draft`, { method: 'PUT', body, headers: { 'if-match': '"0"' } });
      expect((await ada.tab.send(`${place}/compile`, { method: 'POST' })).status).toBe(200);
      const { findings, details } = await replayed({ policy: 'draft', session_id: 'secret-replay' });
      expect(findings.first_difference).toEqual({ ...findings.pairs[0], place: 0, before: 'ALLOW', after: 'DENY' });
      expect(details['first_difference']).toMatchObject({
        ...{ receipt_id: first['receipt_id'], tool: 'crm.read', rules: ['no-reads'] },
      });
    },
  );

  it('can be published if it has findings, and only by its own workspace', async () => {
    const { replay_id } = await replayed({});
    const emptied = "UPDATE replays SET state = 'failed', findings = NULL, details = NULL WHERE id = $1";
    await inControlPlane(emptied, replay_id);
    const early = await make(ada, { object_id: replay_id, public: true });
    expect([early.status, (early.body['error'] as Members)['code']]).toEqual([409, 'ILLEGAL_TRANSITION']);
    const foreign = await make(eve, { object_id: replay_id });
    const unknown = await make(eve, { object_id: `rpl_${'A'.repeat(22)}` });
    expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
  });
});

describe('an object that is not public', () => {
  verifies(
    'cp.public',
    'has the same 404 whether it is unknown, foreign, private, expired, revoked or switched off',
    async () => {
      const answers = new Set<string>();
      for (const [kind, names] of Object.entries(dead))
        for (const name of [...names, 'nonsense', '%00', `..%2F${unknownHandle}`]) {
          const { status, text, headers } = await read(kind as Kind, name);
          expect([kind, name, status]).toEqual([kind, name, 404]);
          answers.add(JSON.stringify([text, headers]));
        }
      expect(answers.size).toBe(1);
    },
  );

  verifies(
    'cp.public',
    'has the same 404 with any session, and a public object shows its owner no more than strangers',
    async () => {
      const second = await call(ada, { tool: 'crm.read', effect_level: 'E1' });
      const { replay_id } = await replayed({});
      const alive = [
        ['receipt', await published(allowed['receipt_id'])],
        ['approval', await published(approvalOf(request))],
        ['replay', await published(replay_id)],
        ['receipt', String(second['receipt_id'])],
      ] as const;
      for (const [kind, name] of alive) {
        const { status, text } = await read(kind, name);
        for (const who of [ada, eve]) {
          const within = await who.tab.send(pathOf(kind, name), { headers: here(who) });
          expect([kind, within.status, within.text]).toEqual([kind, status, text]);
        }
      }
    },
  );

  verifies(
    'cp.public',
    'includes every object of a workspace whose owner has switched public proofs off, until they are on again',
    async () => {
      const handle = await published(allowed['receipt_id']);
      expect((await read('receipt', handle)).status).toBe(200);
      await setPublicProof(ada, 'off');
      const shut = await read('receipt', handle);
      expect([shut.status, shut.text]).toEqual([404, (await read('receipt', unknownHandle)).text]);
      expect((await open(handle)).body).toMatchObject({ handle, public: true });
      const refused = await make(ada, { object_id: allowed['receipt_id'], public: true });
      expect([refused.status, (refused.body['error'] as Members)['code']]).toEqual([409, 'ILLEGAL_TRANSITION']);
      expect((await make(ada, { object_id: allowed['receipt_id'] })).status).toBe(201);
      await setPublicProof(ada, 'published');
      expect((await read('receipt', handle)).status).toBe(200);
      const { body } = await ada.tab.send(`/api/audit/entries?workspace_id=${ada.workspaceId}&limit=3`);
      const set = (body['data'] as Members[]).filter(({ action }) => action === 'evidence.public_proof_set');
      expect(set.map(({ details }) => (details as Members)['public_proof'])).toEqual(['published', 'off']);
    },
  );
});

/** Names that are not public, by the kind of the route. The answer must not show why. */
async function deadNames(): Promise<Record<Kind, string[]>> {
  const unknownIds = { receipt: `rcp_${unknownUlid}`, approval: `apr_${unknownUlid}`, replay: `rpl_${'A'.repeat(22)}` };
  const [mine, foreign] = [await objectsOf(ada), await objectsOf(eve)];
  const names = { receipt: [], approval: [], replay: [] } as Record<Kind, string[]>;
  for (const kind of kinds) {
    const quiet = String((await make(ada, { object_id: mine[kind] })).body['handle']);
    const [over, taken] = [await published(mine[kind]), await published(mine[kind])];
    await inControlPlane('UPDATE evidence_handles SET expires_at = now() WHERE id = $1', over);
    expect((await revoke(taken)).status).toBe(200);
    const shut = await published(foreign[kind], {}, eve);
    names[kind] = [unknownHandle, unknownIds[kind], mine[kind], quiet, over, taken, shut, foreign[kind]];
  }
  await setPublicProof(eve, 'off');
  // A handle opens only its own object, on its own route.
  names.receipt.push(await published(approvalOf(request)), await published((await replayed({})).replay_id));
  return names;
}

/** New unpublished objects: a receipt, an approval and a replay. */
async function objectsOf(who: Person): Promise<Record<Kind, string>> {
  const question = await call(who, { tool: 'mail.send', effect_level: 'E3' });
  return {
    receipt: String(question['receipt_id']),
    approval: approvalOf(question),
    replay: (await replayed({}, who)).replay_id,
  };
}

describe('a handle', () => {
  it('opens its object for its own workspace until it is revoked, and the log records its creation and revocation without the handle itself', async () => {
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
  });

  it('cannot be made for an object of another workspace', async () => {
    const foreign = await make(eve, { object_id: allowed['receipt_id'], public: true });
    const unknown = await make(eve, { object_id: `rcp_${unknownUlid}`, public: true });
    expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
  });

  it('is not published if the kernel denies the publication, but can still be made as a private handle', async () => {
    const mallory = await personAt(system.gatewayUrl, address('mallory'));
    const { receipt_id: object_id } = await call(mallory, { tool: 'crm.read', effect_level: 'E1' });
    const stop = { target: `workspace:${mallory.workspaceId}`, reason: 'a leak' };
    const frozen = await mallory.tab.send('/api/ops/freeze', { method: 'POST', body: stop, headers: here(mallory) });
    expect(frozen.body).toMatchObject({ state: 'effective' });
    const { status, body } = await make(mallory, { object_id, public: true });
    expect([status, (body['error'] as Members)['code']]).toEqual([403, 'POLICY_DENIED']);
    expect((await read('receipt', String(object_id))).status).toBe(404);
    expect((await make(mallory, { object_id })).status).toBe(201);
  });
});

async function json(path: string): Promise<Members> {
  return (await (await fetch(new URL(path, system.gatewayUrl))).json()) as Members;
}
