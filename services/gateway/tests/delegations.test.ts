import { createPrivateKey } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ErrorEnvelope, SignInId, speakingHeaders, type PersonRole } from '@countersign/contracts';
import { generateSigningKey } from '@countersign/crypto/signing';
import type { TestDatabase } from '@countersign/database/testing';
import { createAssertionSigner } from '@countersign/service-kit';
import { assertionKey } from './_assertion-key.ts';
import { clientOf, putMember, signInAs, startTestGateway, testConfig, testDatabase, type Person } from './_gateway.ts';
import type { StartedGateway } from '../src/index.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let ada: Person;
let eve: Person;

beforeAll(async () => {
  database = await testDatabase();
  gateway = await startTestGateway(
    testConfig(database, { GOV_RUN_WORKERS: '0', GOV_CONTROL_PLANE_URL: 'http://127.0.0.1:9' }),
  );
  ada = await signInAs(gateway.url, 'ada@example.org');
  eve = await signInAs(gateway.url, 'eve@example.org');
  await putMember(database, { workspaceId: eve.workspace.id, userId: ada.user.id, role: 'owner' });
});

afterAll(async () => {
  await gateway?.stop();
  await database?.drop();
});

const sid = SignInId.parse('ses_01ARZ3NDEKTSV4RRFFQ69G5FA1');
const signerOf = (key: typeof assertionKey, atMs = Date.now()) =>
  createAssertionSigner(createPrivateKey(key.privateKeyPem), () => new Date(atMs));

type Options = { role?: PersonRole | null; of?: Person; signer?: ReturnType<typeof signerOf>; provenAtMs?: number };

/** Returns Ada's delegation for a role in her workspace. A role of `null` means no workspace. */
function delegation({
  role = 'owner',
  of = ada,
  signer = signerOf(assertionKey),
  provenAtMs = Date.now(),
}: Options = {}): Promise<string> {
  const place = role === null ? {} : { workspace_id: of.workspace.id, role };
  const auth_time = Math.floor(provenAtMs / 1_000);
  return signer.signDelegation({ sub: ada.user.id, sid, auth_time, ...place });
}

async function delegated(options: Options = {}) {
  return clientOf(gateway.url, { authorization: `Bearer ${await delegation(options)}` });
}

const inWorkspace = ({ workspace }: Person) => ({ headers: { 'x-workspace-id': workspace.id } });

describe('a delegation', () => {
  it('opens the rights of the person in the workspace of the request, and in no other workspace', async () => {
    const client = await delegated();
    const { body: task } = await client.createTask({
      body: { title: 'For her', description: '' },
      ...inWorkspace(ada),
    });
    expect(task.createdBy).toBe(ada.user.id);
    await expect(client.listTasks(inWorkspace(eve))).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(client.getMe()).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    const { workspaces } = (await (await delegated({ role: null })).getMe()).body;
    expect(workspaces.map(({ id }) => id)).toEqual(expect.arrayContaining([ada.workspace.id, eve.workspace.id]));
  });

  it('proves presence at the time that its request did', async () => {
    const invite = {
      params: { id: ada.workspace.id },
      body: { email: 'invited@example.org', role: 'member' as const },
    };
    const late = await delegated({ provenAtMs: Date.now() - 302_000 });
    await expect(late.createInvite(invite)).rejects.toMatchObject({ code: 'REAUTHENTICATION_REQUIRED' });
    expect((await (await delegated()).createInvite(invite)).status).toBe(201);
  });

  it('with an old proof of presence cannot change settings or destinations of notifications', async () => {
    const params = { id: ada.workspace.id };
    const settings = { params, body: { policyConfig: { maxIterationBudget: 7, blockedTools: [] } } } as never; // without defaults
    const hook = {
      channel: 'webhook' as const,
      target: 'https://hooks.example.org/',
      eventTypes: ['run.ended' as const],
    };
    const fresh = await delegated();
    const { body: kept } = await fresh.createSubscription({ params, body: hook });
    const ofHook = { params: { ...params, subscriptionId: kept.id } };
    const late = await delegated({ provenAtMs: Date.now() - 302_000 });
    const stateOf = async () => [
      (await fresh.getWorkspaceSettings({ params })).body,
      (await fresh.listSubscriptions({ params })).body,
    ];
    const before = await stateOf();
    const second = { ...hook, target: 'https://elsewhere.example.org/' };
    for (const change of [
      () => late.putWorkspaceSettings(settings),
      () => late.createSubscription({ params, body: second }),
      () => late.rotateWebhookSecret(ofHook),
      () => late.endSubscription(ofHook),
    ])
      await expect(change()).rejects.toMatchObject({ code: 'REAUTHENTICATION_REQUIRED' });
    expect(await stateOf()).toEqual(before);
    expect((await fresh.putWorkspaceSettings(settings)).body.policyConfig.maxIterationBudget).toBe(7);
    expect((await fresh.endSubscription(ofHook)).status).toBe(200);
  });

  it('proves presence to the kernel too: an agent key is created like a workspace key', async () => {
    const made = async (provenAtMs: number) => {
      const headers = {
        authorization: `Bearer ${await delegation({ provenAtMs })}`,
        'content-type': 'application/json',
      };
      const body = JSON.stringify({ kind: 'agent', principal_id: 'helper' });
      const url = new URL('/api/v1/access-keys', gateway.url);
      const answer = await fetch(url, { method: 'POST', headers, body });
      return ErrorEnvelope.parse(await answer.json()).error.code;
    };
    const [now, late] = [Date.now(), Date.now() - 302_000];
    expect(await made(late)).toBe('REAUTHENTICATION_REQUIRED');
    // The delegation is accepted, but this gateway has no kernel.
    expect(await made(now)).toBe('GOVERNANCE_UNAVAILABLE');
  });

  it('gives no role that the person does not have, and none above its own', async () => {
    const params = { id: ada.workspace.id };
    const mode = { params, body: { mode: 'build' as const } };
    const asMember = await delegated({ role: 'member' });
    await expect(asMember.putWorkspaceMode(mode)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    await putMember(database, { workspaceId: eve.workspace.id, userId: ada.user.id, role: 'member' });
    const asOwner = await delegated({ of: eve });
    const theirs = { ...mode, params: { id: eve.workspace.id } };
    await expect(asOwner.putWorkspaceMode(theirs)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  });

  it('is refused if it is expired or signed by an unknown key, and so is an assertion for another service', async () => {
    const refused = { code: 'CREDENTIALS_INVALID' };
    const wrong = [signerOf(generateSigningKey()), signerOf(assertionKey, Date.now() - 120_000)];
    for (const signer of wrong)
      await expect((await delegated({ signer })).listTasks(inWorkspace(ada))).rejects.toMatchObject(refused);
    const person = await signerOf(assertionKey).signPerson({ sub: ada.user.id, sid, auth_time: 1 });
    const client = clientOf(gateway.url, { authorization: `Bearer ${person}` });
    await expect(client.getMe()).rejects.toMatchObject(refused);
  });

  it('proves no caller at the gateway in the header that carries it to the control plane', async () => {
    const text = await signerOf(assertionKey).signDelegation({ sub: ada.user.id, sid, auth_time: 1 });
    const client = clientOf(gateway.url, { [speakingHeaders.gateway]: text });
    await expect(client.getMe()).rejects.toMatchObject({ code: 'CREDENTIALS_REQUIRED' });
  });
});
