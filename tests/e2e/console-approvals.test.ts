import { beforeAll, describe, expect, it } from '@jest/globals';
import type { BoundaryRecord, ExportedReceipt } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, digestOf } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { Authenticator } from '@countersign/testkit/authenticator';
import { verifies } from '@countersign/testkit/verifies';
import { parseKeySet, verifyExport, verifyRecord } from '@countersign/verifier';
import { untilAnswered } from '@countersign/testkit/until';
import { joined, personAt, type Person } from './_signed-in.ts';
import { addressBook, kernelClient } from './_system.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';
import { codeOf, type Report } from './_tab.ts';

const address = addressBook();

/** The kernel's own pages and the console have the same host name, so one passkey works at both. */
const kernelOrigin = 'http://localhost:8080';
let system: SharedSystem;
/** The owner of the agent's key, her partner, and a member. */
let ada: Person;
let bob: Person;
let max: Person;
let key: string;
let requestCount = 0;

type Members = Record<string, never>;

let workspaces = 0;

/** The first passkey of a workspace changes what a vote needs, so each block has its own people. */
async function newWorkspace(role: 'partner' | 'owner' = 'partner'): Promise<void> {
  system = await sharedSystem();
  const nth = ++workspaces;
  const [owner, partner, member] = await Promise.all(
    ['ada', 'bob', 'max'].map((name) => personAt(system.gatewayUrl, address(`${name}-${nth}`))),
  );
  if (owner === undefined || partner === undefined || member === undefined) throw new Error('Three people sign in');
  ada = owner;
  bob = await joined(ada, partner, role);
  max = await joined(ada, member, 'member');
  key = (await ada.client.createApiKey({ body: { name: 'crawler' } as never })).body.key;
}

/** A call of an agent on another host, which the policy escalates to a person. */
async function call(session: string, path = `/tmp/letter-${session}`): Promise<Members> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = { action: 'tool.call', tool: 'mail.send', args: { path }, effect_level: 'E3', session_id: session };
  const response = await fetch(new URL('/api/v1/evaluate', system.gatewayUrl), {
    ...{ method: 'POST', headers },
    body: JSON.stringify(body),
  });
  return (await response.json()) as Members;
}

async function question(): Promise<{ session: string; id: string; shown: Members }> {
  const session = `crawl-${++requestCount}`;
  expect(await call(session)).toMatchObject({ verdict: 'ESCALATE' });
  const { body } = await inbox(bob, `?session_id=${session}&state=pending`);
  const [shown = {}] = body['data'] as Members[];
  return { session, id: shown['approval_id'] ?? '', shown };
}

const consoleOrigin = () => system.consoleUrl;
const placeOf = ({ workspaceId }: Pick<Person, 'workspaceId'>) => `/api/v1/workspaces/${workspaceId}/approvals`;
const inbox = (who: Person, query = '') => who.tab.send(`${placeOf(who)}${query}`);
const resolve = (who: Person, id: string, body: object, headers: Record<string, string> = {}): Promise<Report> =>
  who.tab.send(`${placeOf(ada)}/${id}/resolve`, { method: 'POST', body, headers });
/** A vote with the ceremony hash that was shown. */
async function vote(
  who: Person,
  { id, shown }: { id: string; shown: Members },
  body: object,
  headers: Record<string, string> = { 'if-match': `"${String(shown['ceremony_hash'])}"` },
): Promise<Report> {
  return await resolve(who, id, body, headers);
}

describe('in the console', () => {
  beforeAll(() => newWorkspace());

  verifies(
    'cp.approval',
    'a partner sees the exact pending call, approves it, and the agent makes it once',
    async () => {
      const { session, id, shown } = await question();
      expect(shown).toMatchObject({
        ...{ state: 'pending', tool: 'mail.send', effect_level: 'E3', tenant_id: ada.workspaceId },
        args: { path: `/tmp/letter-${session}` },
      });
      expect((await vote(bob, { id, shown }, { decision: 'approve' })).body).toMatchObject({
        ...{
          approval_id: id,
          state: 'approved',
          approved_by: [String((await bob.tab.send('/api/session')).body['user_id'])],
        },
      });
      expect(await call(session)).toMatchObject({ verdict: 'ALLOW' });
      expect(await call(session)).toMatchObject({ verdict: 'ESCALATE' });
    },
  );

  verifies(
    'cp.approval',
    'the owner of the key, a member and a stranger cannot approve, nor a voter who did not see the request',
    async () => {
      const { id, shown } = await question();
      const approve = { decision: 'approve' };
      expect(codeOf(await vote(bob, { id, shown }, approve, {}))).toEqual([428, 'PRECONDITION_REQUIRED']);
      const stale = { 'if-match': `"sha256:${'0'.repeat(64)}"` };
      expect((await resolve(bob, id, approve, stale)).status).toBe(412);
      const principal = String((await bob.tab.send('/api/session')).body['user_id']);
      const late = doors(id, { ceremony_hash: `sha256:${'0'.repeat(64)}` as never }); // any text
      expect((await late.kernel(asPrincipal(system.adminApiKey, principal))).status).toBe(412);
      expect(codeOf(await vote(ada, { id, shown }, approve))).toEqual([403, 'PERMISSION_DENIED']);
      expect(codeOf(await vote(max, { id, shown }, approve))).toEqual([403, 'PERMISSION_DENIED']);
      const mayDecide = async (who: Person) => {
        const [listed = {}] = (await inbox(who, `?approval_id=${id}`)).body['data'] as Members[];
        return [listed['may_decide'], listed['obstacle']];
      };
      expect([await mayDecide(ada), await mayDecide(bob), await mayDecide(max)]).toEqual([
        [false, 'OWN_REQUEST'],
        [true, null],
        [false, 'ROLE'],
      ]);
      const waitingFor = async (who: Person) => {
        const { body } = await who.tab.send('/api/snapshot', { headers: { 'x-workspace-id': ada.workspaceId } });
        return (body['boundary'] as { counts: Record<string, number> }).counts;
      };
      expect([(await waitingFor(ada))['waiting_for_you'], (await waitingFor(max))['waiting_for_you']]).toEqual([0, 0]);
      expect((await waitingFor(bob))['waiting_for_you']).toBe((await waitingFor(bob))['pending_approvals']);
      const eve = await personAt(system.gatewayUrl, address('eve'));
      const unknown = { ...eve, workspaceId: 'wsp_01ARZ3NDEKTSV4RRFFQ69G5FAV' };
      const messages = [await inbox({ ...eve, workspaceId: ada.workspaceId }), await inbox(unknown)];
      expect(messages.map(codeOf)).toEqual([404, 404].map((status) => [status, 'NOT_FOUND']));
      expect(codeOf(await vote(eve, { id, shown }, approve))).toEqual([404, 'NOT_FOUND']);
      expect(codeOf(await byKey(`${placeOf(ada)}`))).toEqual([403, 'PERMISSION_DENIED']);
      const { body } = await inbox(bob, `?approval_id=${id}`);
      expect((body['data'] as Members[])[0]).toMatchObject({ state: 'pending', approved_by: [] });
    },
  );

  verifies(
    'cp.approval',
    "no route accepts an approval by the key's owner, by a key, or by a service without a person",
    async () => {
      const { session, id, shown } = await question();
      await heardOf(id);
      for (const [who, credential] of Object.entries(credentials()))
        for (const [door, opens] of Object.entries(doors(id, shown))) {
          const { status } = await opens(credential);
          expect([who, door, status]).toEqual([who, door, expect.any(Number)]);
          expect([401, 403, 404]).toContain(status);
          expect([who, door, await standingOf(id)]).toEqual([who, door, { state: 'pending', approved_by: [] }]);
        }
      expect(await call(session)).toMatchObject({ verdict: 'ESCALATE' });
      // The same routes accept a vote of a person who may approve.
      const mayApprove = { authorization: `Bearer ${bob.token}`, 'x-workspace-id': ada.workspaceId };
      expect((await doors(id, shown)['document 1'](mayApprove)).status).toBe(200);
      expect(await standingOf(id)).toMatchObject({ state: 'approved' });
    },
  );

  it('a denial states its reason to the requester too, and the owner of the key may deny', async () => {
    const { session, id, shown } = await question();
    expect(codeOf(await vote(ada, { id, shown }, { decision: 'deny' }))).toEqual([400, 'INVALID_REQUEST']);
    const reason = 'Ask the customer first';
    expect((await vote(ada, { id, shown }, { decision: 'deny', reason })).body).toMatchObject({
      ...{ state: 'denied', rejection_reason: reason },
    });
    expect(await call(session)).toMatchObject({ verdict: 'DENY', reason_code: 'APPROVAL_REJECTED' });
  });
});

describe('in a workspace with a passkey', () => {
  // The first passkey of an owner makes passkeys the only valid votes.
  beforeAll(() => newWorkspace('owner'));

  verifies(
    'cp.approval',
    'after the first passkey, every route requires a passkey, and accepts only the decision that was signed',
    async () => {
      const authenticator = new Authenticator(kernelOrigin);
      await enrol(bob, authenticator);
      const { session, id, shown } = await question();
      expect(codeOf(await vote(bob, { id, shown }, { decision: 'approve' }))).toEqual([403, 'PASSKEY_REQUIRED']);
      await heardOf(id);
      const bearers = {
        'document 1': { authorization: `Bearer ${bob.token}`, 'x-workspace-id': ada.workspaceId },
        kernel: asPrincipal(system.adminApiKey, String((await bob.tab.send('/api/session')).body['user_id'])),
      };
      for (const door of ['document 1', 'kernel'] as const) {
        const { status, text } = await doors(id, shown)[door](bearers[door]);
        expect([door, status, (JSON.parse(text) as { error: Members }).error['code']]).toEqual([
          ...[door, 403, 'PASSKEY_REQUIRED'],
        ]);
      }
      expect(await standingOf(id)).toEqual({ state: 'pending', approved_by: [] });
      const challenge = async (decision: string, origin = consoleOrigin()) => {
        const headers = { 'x-workspace-id': ada.workspaceId };
        const answer = await bob.tab.send(`/api/v1/approvals/${id}/webauthn/challenge`, {
          ...{ method: 'POST', headers, body: { decision, expected_ceremony_hash: shown['ceremony_hash'] } },
        });
        expect(answer.status).toBe(201);
        const { challenge_id, challenge: text } = answer.body as Members;
        return { challenge_id, assertion: authenticator.get(String(text), { origin }) };
      };
      const denied = { ...(await challenge('approve')), decision: 'deny', reason: 'no' };
      expect(codeOf(await resolve(bob, id, denied))).toEqual([412, 'PRECONDITION_FAILED']);
      const elsewhere = { ...(await challenge('approve', kernelOrigin)), decision: 'approve' };
      expect(codeOf(await resolve(bob, id, elsewhere))).toEqual([403, 'PASSKEY_REFUSED']);
      const signed = { ...(await challenge('approve')), decision: 'approve' };
      expect((await vote(bob, { id, shown }, signed)).body).toMatchObject({ state: 'approved' });
      expect((await resolve(bob, id, signed)).status).not.toBe(200);
      expect(await call(session)).toMatchObject({ verdict: 'ALLOW' });
      expect(await call(session)).toMatchObject({ verdict: 'ESCALATE' });

      const lines = await exported(session);
      const isVote = (line: string) => line.includes('"action":"approval.approve"') && line.includes('"record"');
      const signature = String(signed.assertion.response.signature);
      expect(lines.filter(isVote)).toEqual([expect.stringContaining(signature)]);
      expect(await judged(lines)).toEqual({ verdict: 'VERIFIED', code: null });
      // A lying kernel can hash its record again, but it cannot make the signature of the passkey.
      const { receipt, record } = JSON.parse(lines.find(isVote) ?? '') as ExportedReceipt & { record: BoundaryRecord };
      const reportOf = (from: string, to: string) => () => {
        const { record_hash: _, ...hashed } = JSON.parse(JSON.stringify(record).replace(from, to)) as BoundaryRecord;
        const record_hash = digestOf(nodeProvider, canonicalBytes(hashed)) as typeof _; // a digest of this type
        const payload = { ...receipt.payload, record_hash };
        return verifyRecord({ ...hashed, record_hash }, { ...receipt, payload }, nodeProvider);
      };
      expect(reportOf('', '')).not.toThrow();
      const flipped = signature.slice(0, 20) + (signature[20] === 'A' ? 'B' : 'A') + signature.slice(21);
      expect(reportOf(signature, flipped)).toThrow(expect.objectContaining({ code: 'ASSERTION_INVALID' }));
    },
  );
});

/** Credentials of callers who may not approve. Some name a person, but do not prove that they are this person. */
function credentials(): Record<string, Record<string, string>> {
  const claims = {
    'x-gov-tenant-id': ada.workspaceId,
    'x-gov-principal-id': 'usr_claimed',
    'x-workspace-id': ada.workspaceId,
  };
  return {
    'whose key asks': { authorization: `Bearer ${ada.token}`, 'x-workspace-id': ada.workspaceId },
    'an API key': { authorization: `Bearer ${key}`, ...claims },
    'a message of a channel, which a service brings without a session': {
      ...{ authorization: `Bearer ${system.serviceApiKey}`, ...claims },
    },
    nobody: claims,
  };
}

type Door = (headers: Record<string, string>) => Promise<{ status: number; text: string }>;

/** Each route on which a vote can reach the kernel. */
function doors(id: string, { ceremony_hash: hash }: Members) {
  const post =
    (origin: string, path: string, body: object, method = 'POST'): Door =>
    async (headers) => {
      const response = await fetch(new URL(path, origin), {
        ...{ method, headers: { 'content-type': 'application/json', 'if-match': `"${String(hash)}"`, ...headers } },
        body: JSON.stringify(body),
      });
      return { status: response.status, text: await response.text() };
    };
  const [approve, challenge] = [{ decision: 'approve' }, { decision: 'approve', expected_ceremony_hash: hash }];
  const ceremony = `/api/v1/approvals/${id}/webauthn/challenge`;
  const resolution = `${placeOf(ada)}/${id}/resolve`;
  return {
    console: post(system.gatewayUrl, resolution, approve),
    'control plane': post(system.controlPlaneUrl, resolution, approve),
    'document 1': post(system.gatewayUrl, `/api/audit/approvals/${id}`, { status: 'approved' }, 'PUT'),
    'ceremony by the gateway': post(system.gatewayUrl, ceremony, challenge),
    ceremony: post(system.kernelUrl, ceremony, challenge),
    kernel: post(system.kernelUrl, `/api/v1/approvals/${id}/approve`, {}),
  } satisfies Record<string, Door>;
}

const asPrincipal = (operatorKey: string, principal: string) => ({
  authorization: `Bearer ${operatorKey}`,
  'x-gov-tenant-id': ada.workspaceId,
  'x-gov-principal-id': principal,
});

/** The gateway learns of an approval request from an event. */
const heardOf = (id: string) =>
  untilAnswered(async () => {
    const { body } = await bob.client.listWorkspaceApprovals({
      query: {},
      headers: { 'x-workspace-id': ada.workspaceId },
    });
    return body.data.some((approval) => approval.id === id);
  });

async function standingOf(id: string) {
  const { body } = await inbox(bob, `?approval_id=${id}`);
  const [shown = {}] = body['data'] as Members[];
  return { state: shown['state'], approved_by: shown['approved_by'] };
}

async function exported(session: string): Promise<string[]> {
  const kernel = kernelClient(system, ada.workspaceId);
  const lines = (await kernel.exportReceipts({ query: { session_id: session } })).body as object[]; // lines of JSON
  return lines.map((line) => JSON.stringify(line));
}

/** The verdict of a third party with only the published keys. */
async function judged(lines: string[]) {
  const trust = parseKeySet((await kernelClient(system, ada.workspaceId).listTrustKeys()).body);
  const { verdict, fault } = verifyExport(lines, { trust, provider: nodeProvider });
  return { verdict, code: fault?.code ?? null };
}

async function byKey(path: string): Promise<Report> {
  const response = await fetch(new URL(path, system.gatewayUrl), { headers: { authorization: `Bearer ${key}` } });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as Report['body'] };
}

/** Enrols a passkey as an operator does. */
async function enrol({ tab }: Person, authenticator: Authenticator): Promise<void> {
  const principal = String((await tab.send('/api/session')).body['user_id']);
  const headers = {
    authorization: `Bearer ${system.adminApiKey}`,
    'content-type': 'application/json',
    'x-gov-tenant-id': ada.workspaceId,
    'x-gov-principal-id': principal,
  };
  const place = `/api/v1/identity/operators/${principal}/webauthn`;
  const ask = async (step: string, body?: object) => {
    const sent = { method: 'POST', headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await fetch(new URL(`${place}/${step}`, system.kernelUrl), sent);
    expect(response.status).toBe(201);
    return (await response.json()) as Members;
  };
  const { challenge } = await ask('register');
  await ask('verify', { attestation: authenticator.create(String(challenge)) });
}
