import { randomBytes } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect } from '@jest/globals';
import { ApprovalId, createClient } from '@countersign/contracts';
import { findSoleOwner } from '@countersign/contracts/gateway';
import { reaching, untilAnswered } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { Messages, Schemas } from 'scimmy';
import { access, actsOf, type Access } from './_provisioned-access.ts';
import { inactive, newOrg, patchOf, scimClient, type Answer, type ScimClient } from './_scim-client.ts';
import { joined, personAt, type Person } from './_signed-in.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';
import { inDatabase, kernelClient } from './_system.ts';

/** The promised limit on the time from the answer of SCIM to the end of access. */
const endsWithinMs = 5_000;
let system: SharedSystem;
let domain: string;
let founder: Person;
let partner: Person;
let scim: ScimClient;
let orgId: string;

beforeAll(async () => {
  system = await sharedSystem();
});

beforeEach(async () => {
  domain = `corp-${randomBytes(4).toString('hex')}.example`;
  founder = await personAt(system.gatewayUrl, `founder@${domain}`);
  partner = await joined(founder, await personAt(system.gatewayUrl, `partner@outside-${domain}`), 'partner');
  const roleMappings = [{ group: 'Engineers', role: 'member' as const }];
  const org = await newOrg(system, founder, { name: domain, domain, roleMappings });
  orgId = org.orgId;
  scim = scimClient(system.gatewayUrl, org.bearer);
});

const userOf = (name: string, more: object = {}) => ({
  schemas: [Schemas.User.definition.id],
  ...{ userName: `${name}@${domain}`, externalId: `ext-${name}`, active: true, displayName: name },
  ...{ name: { familyName: name, givenName: name }, emails: [{ value: `${name}@${domain}`, primary: true }], ...more },
});

async function provisioned(name: string): Promise<string> {
  const { status, data } = await scim.users.provision(userOf(name));
  expect({ status, data }).toMatchObject({ status: 201, data: { userName: `${name}@${domain}`, active: true } });
  return String(data['id']);
}

/** A person in the group and the workspace, with every kind of credential. */
async function acting(name: string, id: string): Promise<Access> {
  await untilAnswered(async () => {
    const { members } = (await founder.client.getWorkspace({ params: { id: founder.workspaceId } })).body;
    return members.some(({ email }) => email === `${name}@${domain}`);
  });
  const { workspaceId } = founder;
  expect(id).toMatch(/^scu_/);
  return access(system, { email: `${name}@${domain}`, workspaceId, approver: partner });
}

/**
 * Status and keyword of an error. An independent library validates it, and knows the keywords of RFC 7644 for each
 * status.
 */
function problemOf({ status, data: { schemas, ...error } }: Answer): [number, unknown] {
  expect(schemas).toEqual([Messages.Error.id]);
  expect({ ...new Messages.Error(error as never) }).toMatchObject({ ...error, status: String(status) }); // the library validates it
  return [status, error['scimType']];
}

const approvalStates = async (...ids: string[]) => {
  const kernel = kernelClient(system, founder.workspaceId);
  const states = [];
  for (const id of ids)
    states.push(
      (await kernel.listApprovals({ query: { approval_id: ApprovalId.parse(id) } })).body.data[0]?.state, // paging has defaults
    );
  return states;
};

/**
 * The most that one check of all credentials adds to the measured time. A check takes about 50 ms, but longer on a slow
 * machine.
 */
const lookMsMax = 250;

/** The time from the answer of SCIM to the end of the person's last access. */
async function msUntilEnded(person: Access): Promise<number> {
  let elapsedMs = 0;
  let lookedAt = performance.now(); // real time, because the promise limits a time
  const open = async () => {
    const acts = await actsOf(person);
    const [state] = await approvalStates(person.approvalId);
    const now = performance.now(); // as above
    elapsedMs += Math.min(now - lookedAt, lookMsMax);
    lookedAt = now;
    return { ...acts, approval: state === 'approved' };
  };
  await reaching(open, (ways) => Object.values(ways).every((isOpen) => !isOpen));
  return elapsedMs;
}

describe("an organisation whose identity provider uses GitHub's SCIM client", () => {
  verifies(
    'cg.scim',
    'provisions people and groups in this organisation alone, with PATCH, filter, paging, ETag and errors',
    async () => {
      const ids = [];
      for (const name of ['ada', 'bob', 'eve']) ids.push(await provisioned(name));
      const [ada = '', bob = ''] = ids;
      const found = await scim.users.list({ filter: `userName eq "ADA@${domain}"` });
      expect(found.data).toMatchObject({ totalResults: 1, Resources: [{ id: ada }] });
      const pages = [];
      for (const startIndex of [1, 2, 3, 4]) {
        const { data } = await scim.users.list({ startIndex, count: 1 });
        expect(new Messages.ListResponse(data as never)).toMatchObject({ totalResults: 3, startIndex }); // the library validates it
        pages.push(...(data['Resources'] as { id: string }[]).map(({ id }) => id));
      }
      expect(pages.toSorted()).toEqual(ids.toSorted());

      const group = await scim.groups.provision({
        ...{ schemas: [Schemas.Group.definition.id], displayName: 'Engineers', externalId: 'g1' },
        members: [{ value: ada }],
      });
      expect(group).toMatchObject({ status: 201, headers: { etag: 'W/"1"' } });
      const id = String(group.data['id']);
      const etag = { 'if-match': 'W/"1"' };
      const addBob = patchOf({ op: 'add', path: 'members', value: [{ value: bob }] });
      expect(await scim.groups.patch({ id, ...addBob, headers: etag })).toMatchObject({
        status: 200,
        headers: { etag: 'W/"2"' },
      });
      const late = await scim.groups.patch({ id, ...addBob, headers: etag });
      expect(problemOf(late)).toEqual([412, undefined]);
      const without = patchOf({ op: 'remove', path: `members[value eq "${bob}"]` });
      expect((await scim.groups.patch({ id, ...without })).data['members']).toMatchObject([{ value: ada }]);
      const title = patchOf({ op: 'replace', value: { title: 'Countess' } });
      expect((await scim.users.patch({ id: ada, ...title })).data).toMatchObject({ title: 'Countess' });

      const twice = await scim.users.provision(userOf('ada'));
      expect(problemOf(twice)).toEqual([409, 'uniqueness']);
      const wrong = await scim.users.list({ filter: 'userName eq' });
      expect(problemOf(wrong)).toEqual([400, 'invalidFilter']);

      const stranger = await personAt(system.gatewayUrl, `founder@other-${domain}`);
      const terms = { name: 'Other', domain: `other-${domain}`, roleMappings: [] };
      const foreign = scimClient(system.gatewayUrl, (await newOrg(system, stranger, terms)).bearer);
      expect((await foreign.users.list()).data).toMatchObject({ totalResults: 0 });
      for (const call of [foreign.users.get, foreign.users.remove]) expect((await call({ id: ada })).status).toBe(404);
      expect((await foreign.users.patch({ id: ada, ...inactive })).status).toBe(404);
      expect((await foreign.groups.patch({ id, ...without })).status).toBe(404);
      expect((await foreign.users.provision(userOf('mallory'))).status).toBe(400);
      expect((await scim.users.get({ id: ada })).data).toMatchObject({ active: true, groups: [{ value: id }] });
    },
  );

  verifies(
    'cg.scim',
    'ends sessions, keys, device tokens and unused approvals within five seconds after `active: false` and DELETE',
    async () => {
      const id = await provisioned('ada');
      const members = [{ value: id }];
      const group = { schemas: [Schemas.Group.definition.id], displayName: 'Engineers', externalId: 'g1', members };
      expect((await scim.groups.provision(group)).status).toBe(201);
      const first = await acting('ada', id);
      expect((await scim.users.patch({ id, ...inactive })).data).toMatchObject({ active: false });
      expect(await msUntilEnded(first)).toBeLessThan(endsWithinMs);

      const active = patchOf({ op: 'replace', path: 'active', value: true });
      expect((await scim.users.patch({ id, ...active })).data).toMatchObject({ active: true });
      const second = await acting('ada', id);
      // A reactivated person does not get back the ended access.
      expect(Object.values(await actsOf(first))).toEqual([false, false, false, false]);
      expect((await scim.users.remove({ id })).status).toBe(204);
      expect(await msUntilEnded(second)).toBeLessThan(endsWithinMs);
      expect(await approvalStates(first.approvalId, second.approvalId)).toEqual(['revoked', 'revoked']);
      expect((await scim.users.get({ id })).status).toBe(404);
      // The row is kept. Its name is free again, but its id is not.
      const statement = `SELECT 1 / count(*) FROM scim_users WHERE id = $1 AND NOT active AND deleted_at IS NOT NULL`;
      await inDatabase(system.dataDir, { schema: 'commercial', statement, values: [id] });
      expect(await provisioned('ada')).not.toBe(id);
    },
  );

  verifies('cg.scim', "keeps the last owner of a workspace, but ends the owner's sessions", async () => {
    const id = await provisioned('founder');
    const sessions = async () => (await founder.client.getMe().catch(() => null)) !== null;
    const headers = () => ({ authorization: `Bearer ${system.serviceApiKey}` });
    const gateway = createClient({ findSoleOwner }, { baseUrl: system.gatewayUrl, headers });
    const body = { org_id: orgId, scim_user_id: id, workspace_ids: [founder.workspaceId] } as never; // branded by the schema
    await untilAnswered(async () => (await gateway.findSoleOwner({ body })).body.sole_owner);
    const kept = await scim.users.patch({ id, ...inactive });
    expect(problemOf(kept)).toEqual([409, undefined]);
    await reaching(sessions, (isOpen) => !isOpen);
    expect((await scim.users.get({ id })).data).toMatchObject({ active: true });
    const again = await personAt(system.gatewayUrl, founder.email);
    const { members } = (await again.client.getWorkspace({ params: { id: founder.workspaceId } })).body;
    expect(members.find(({ email }) => email === founder.email)).toMatchObject({ role: 'owner' });
  });
});
