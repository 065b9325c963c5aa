import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient, keyPrincipal, UserId, WorkspaceId, type ApprovalId } from '@countersign/contracts';
import type { ApprovalDecision } from '@countersign/contracts/governance-kernel';
import { applyMembers } from '../src/controls/relations/apply-members.ts';
import { deliverSettings, TestGateway, userCalled, workspaceCalled, type Speaker } from './_assertions.ts';
import { send, Caller, ledgerOf, newSession, refusal, answerOf } from './_caller.ts';
import { kernelRoutes, startTestKernel, type TestKernel } from './_kernel.ts';
import { Approver, origin } from './_passkeys.ts';

const policy = `
format: countersign/policy.v1
name: rights
version: '1'
rules:
  - { id: two, effect: escalate, match: { tool: [two.*] }, approval: { quorum: 2 } }
  - { id: one, effect: escalate, match: { tool: [one.*] } }
`;

const gateway = new TestGateway();
let test: TestKernel;
beforeAll(async () => {
  const env = { GOV_PUBLIC_URL: origin, GOV_CONSOLE_URL: origin, GOV_ASSERTION_KEYS: gateway.publicKey };
  test = await startTestKernel({ env });
  await test.activate('*', policy);
});
afterAll(() => test.close());

type Role = 'owner' | 'partner' | 'member';
const [anna, bert, cem, dee] = ['ANNA', 'BERT', 'CEM', 'DEE'].map(userCalled) as [string, string, string, string];
const all = { [anna]: 'owner', [bert]: 'owner', [cem]: 'partner', [dee]: 'partner' } as const;

let made = 0;
/** A new workspace whose member list the gateway has delivered. */
async function workspaceOf(roles: Record<string, Role> = all) {
  const tenant = workspaceCalled(`R1GHTS${(made += 1)}`);
  let version = 0;
  const tell = (now: Record<string, Role>) => {
    version += 1;
    const members = Object.entries(now).map(([id, role]) => ({ userId: UserId.parse(id), role }));
    return applyMembers(test.kernel.context, { workspaceId: WorkspaceId.parse(tenant), version, members });
  };
  await tell(roles);
  await deliverSettings(test, tenant);
  const as = (principal: string, role: Role, membersVersion = version): Speaker => ({
    ...{ tenant, principal, role, membersVersion },
  });
  /** A client with the gateway's assertion about a person. */
  const client = (who: Speaker) => gateway.client(test.kernel.url, who);
  const view = (id: ApprovalId) => new Caller(test, tenant).approval(id);
  const vote = async (who: Speaker, id: ApprovalId, action: ApprovalDecision = 'approve') => {
    const { ceremony_hash } = await view(id);
    const body = { expected_ceremony_hash: ceremony_hash, reason: 'a fire' };
    return (await client(who).transitionApproval({ params: { approval_id: id, action }, body })).body;
  };
  const escalated = async (tool = 'two.keys') => {
    const call = { tool, session_id: newSession() };
    return { call, id: send(await new Caller(test, tenant).decide(call)) };
  };
  const breaksGlass = () =>
    test.system.putApprovalTerms({
      params: { tenant },
      body: { version: 1, signatures_only: false, break_glass: true },
    });
  return { tenant, tell, as, client, view, vote, escalated, breaksGlass };
}

describe('a vote in a workspace', () => {
  it.each<[string, Record<string, Role>]>([
    ['was removed', { [anna]: 'owner', [dee]: 'partner' }],
    ['is only a member now', { [anna]: 'owner', [cem]: 'member', [dee]: 'partner' }],
  ])('of a person who %s does not count for a quorum', async (_what, roles) => {
    const { as, tell, vote, escalated, tenant } = await workspaceOf();
    const { call, id } = await escalated();
    expect(await vote(as(cem, 'partner'), id)).toMatchObject({ state: 'pending', approved_by: [cem] });
    await tell(roles);
    expect(await vote(as(anna, 'owner'), id)).toMatchObject({ state: 'pending', approved_by: [anna] });
    expect(answerOf(await new Caller(test, tenant).decide(call))).toBe('ESCALATE APPROVAL_REQUIRED');
    expect(await refusal(vote(as(cem, 'partner'), id))).toBe('PERMISSION_DENIED');
    expect(await vote(as(dee, 'partner'), id)).toMatchObject({ state: 'approved', approved_by: [anna, dee] });
    expect(answerOf(await new Caller(test, tenant).decide(call))).toBe('ALLOW ALLOWED');
  });

  it('is recorded with the role and the credential of the voter', async () => {
    const { as, vote, escalated, tenant } = await workspaceOf();
    const { call, id } = await escalated();
    await vote(as(cem, 'partner'), id);
    await new Caller(test, tenant, 'installer').move('approve', id);
    const votes = (await ledgerOf(test, call.session_id)).filter(({ payload }) => payload.kind === 'approval');
    expect(votes.map(({ record }) => record?.intent.facts)).toMatchObject([
      { credential: 'assertion', role: 'partner' },
      { credential: 'operator_bearer', role: 'operator' },
    ]);
    const { rows } = await test.pool.query<object>(
      'SELECT approved_as, approved_credentials FROM approvals WHERE approval_id = $1',
      [id],
    );
    const approved_credentials = [`assertion:${cem}`, 'operator_bearer'];
    expect(rows).toEqual([{ approved_as: ['partner', 'operator'], approved_credentials }]);
  });

  it('of a removed member is refused with the operator key and with an approver key in their name', async () => {
    const { tell, escalated, tenant } = await workspaceOf();
    const { id } = await escalated();
    await tell({ [anna]: 'owner', [bert]: 'owner' });
    expect(await refusal(new Caller(test, tenant, cem).move('approve', id))).toBe('PERMISSION_DENIED');
    expect(await refusal(new Caller(test, tenant, cem.toUpperCase()).move('approve', id))).toBe('PERMISSION_DENIED');
    await expect(new Caller(test, tenant, cem).decideOnPage(id)).rejects.toThrow('There is no form');
  });

  it('waits for the version of the member list that its assertion names', async () => {
    const { as, tell, vote, escalated } = await workspaceOf();
    const { id } = await escalated();
    expect(await refusal(vote(as(anna, 'owner', 2), id))).toBe('MEMBERS_OUTDATED');
    const late = vote(as(anna, 'owner', 2), id);
    await tell(all);
    expect(await late).toMatchObject({ approved_by: [anna] });
  });
});

describe('the glass', () => {
  it('can be broken by an owner but not by a partner, with an assertion or a passkey', async () => {
    const { tenant, as, client, vote, escalated, breaksGlass, tell, view } = await workspaceOf();
    await breaksGlass();
    const before = await escalated();
    expect(await refusal(vote(as(cem, 'partner'), before.id, 'break_glass'))).toBe('PERMISSION_DENIED');
    const people = { as: (_tenant: string, who = '') => client(as(who, who === anna ? 'owner' : 'partner', 1)) };
    const [owner, partner] = [new Approver(people, anna, tenant), new Approver(people, cem, tenant)];
    await owner.enrol();
    await partner.enrol();
    await owner.vouchFor(partner);
    const { id } = await escalated();
    expect(await refusal(partner.decide(id, 'break_glass', 'a fire'))).toBe('PERMISSION_DENIED');
    const byBearer = Object.assign(Object.create(partner) as Approver, { client: test.as(tenant, cem) });
    expect(await refusal(byBearer.decide(id, 'break_glass', 'a fire'))).toBe('PERMISSION_DENIED');
    expect(await view(id)).toMatchObject({ state: 'pending', break_glass: null });
    const { challenge, challenge_id } = await owner.challenge(id, 'break_glass', 'a fire');
    await tell({ ...all, [anna]: 'partner' });
    const body = { challenge_id, assertion: owner.authenticator.get(challenge) };
    const signed = owner.client.assertApproval({ params: { approval_id: id }, body });
    expect(await refusal(signed)).toBe('PERMISSION_DENIED');
    await tell(all);
    expect(await owner.decide(id, 'break_glass', 'a fire')).toMatchObject({ break_glass: { by: anna } });
  });
});

describe('the first passkey', () => {
  it('of a partner waits and changes nothing for others, but the first passkey of an owner makes passkeys mandatory', async () => {
    const { tenant, as, client, vote, escalated } = await workspaceOf();
    const people = { as: (_tenant: string, who = '') => client(as(who, who === anna ? 'owner' : 'partner', 1)) };
    const [owner, partner] = [new Approver(people, anna, tenant), new Approver(people, cem, tenant)];
    expect(await partner.enrol()).toMatchObject({ state: 'waiting' });
    const { id } = await escalated();
    expect(await vote(as(anna, 'owner'), id)).toMatchObject({ approved_by: [anna] });
    expect(await vote(as(cem, 'partner'), id)).toMatchObject({ state: 'approved' });
    expect(await owner.enrol()).toMatchObject({ state: 'active' });
    expect(await owner.vouchFor(partner)).toMatchObject({ state: 'active' });
    const next = await escalated();
    expect(await refusal(vote(as(anna, 'owner'), next.id))).toBe('PASSKEY_REQUIRED');
  });

  it('is not activated by a voucher of a removed member', async () => {
    const { tenant, as, client, tell } = await workspaceOf();
    const people = { as: (_tenant: string, who = '') => client(as(who, who === anna ? 'owner' : 'partner', 1)) };
    const [owner, partner, third] = [anna, cem, dee].map((who) => new Approver(people, who, tenant));
    if (!owner || !partner || !third) throw new Error('there are three');
    await owner.enrol();
    await partner.enrol();
    await third.enrol();
    await owner.vouchFor(partner);
    await tell({ [anna]: 'owner', [dee]: 'partner' });
    expect(await refusal(partner.vouchFor(third))).toBe('PERMISSION_DENIED');
    expect(await owner.vouchFor(third)).toMatchObject({ state: 'active' });
  });
});

describe('the calls of an agent', () => {
  /** An agent with a key that this owner created. */
  async function agentOfOwner(space: Awaited<ReturnType<typeof workspaceOf>>, maker: string, name = 'researcher') {
    const body = { kind: 'agent', principal_id: name } as never; // the kernel fills in the defaults
    const { key } = (await space.client(space.as(maker, 'owner')).createAccessKey({ body })).body;
    const headers = () => ({ authorization: `Bearer ${key}` });
    const client = createClient(kernelRoutes, { baseUrl: test.kernel.url, headers });
    const call = (session_id = newSession(), tool = 'one.call') => ({ action: 'tool.call', tool, session_id }) as never;
    return async (input = call()) => ({ input, reply: (await client.evaluate({ body: input })).body });
  }

  it('cannot be approved by the creator of its key while another member could approve', async () => {
    const space = await workspaceOf();
    const decide = await agentOfOwner(space, anna);
    const { input, reply } = await decide();
    const id = send(reply);
    expect(await refusal(space.vote(space.as(anna, 'owner'), id))).toBe('PERMISSION_DENIED');
    expect(await refusal(new Caller(test, space.tenant, anna).move('approve', id))).toBe('PERMISSION_DENIED');
    expect(await space.vote(space.as(bert, 'owner'), id)).toMatchObject({ state: 'approved' });
    expect(answerOf((await decide(input)).reply)).toBe('ALLOW ALLOWED');
    const second = send((await decide()).reply);
    expect(await space.vote(space.as(anna, 'owner'), second, 'deny')).toMatchObject({ state: 'denied' });
  });

  it('can be approved by the creator of its key if no other member can approve', async () => {
    const space = await workspaceOf({ [anna]: 'owner', [dee]: 'member' });
    const { reply } = await (await agentOfOwner(space, anna))();
    expect(await space.vote(space.as(anna, 'owner'), send(reply))).toMatchObject({ state: 'approved' });
  });

  it('are not allowed by an approval that the creator of its key granted to a call of another key', async () => {
    const space = await workspaceOf();
    const [byOlga, byOtto] = [await agentOfOwner(space, anna), await agentOfOwner(space, bert)];
    const { input, reply } = await byOtto();
    await space.vote(space.as(anna, 'owner'), send(reply));
    const again = (await byOlga(input)).reply;
    expect(answerOf(again)).toBe('ESCALATE APPROVAL_REQUIRED');
    expect(send(again)).not.toBe(send(reply));
    expect(answerOf((await byOtto(input)).reply)).toBe('ALLOW ALLOWED');
  });

  it('with a key of the workspace cannot be approved by the sponsor in the gateway’s assertion', async () => {
    const space = await workspaceOf();
    const key = { tenant: space.tenant, principal: keyPrincipal('hpk_01ARZ3NDEKTSV4RRFFQ69G5FAV' as never) };
    const body = { action: 'tool.call', tool: 'one.call', session_id: newSession() } as never;
    const asking = space.client({ ...key, role: 'agent', sponsor: cem });
    const id = send((await asking.evaluate({ body })).body);
    expect(await refusal(space.vote(space.as(cem, 'partner'), id))).toBe('PERMISSION_DENIED');
    expect(await space.vote(space.as(dee, 'partner'), id)).toMatchObject({ state: 'approved' });
  });

  it.each([anna.toUpperCase(), anna, `ｕsr_${anna.slice(4)}`, `u\u200dsr_${anna.slice(4)}`, 'KEY:x', 'Agent:wsp_x'])(
    'cannot come from an agent named %s, because people or workspace keys have such names',
    async (name) => {
      const space = await workspaceOf();
      expect(await refusal(agentOfOwner(space, bert, name))).toBe('PERMISSION_DENIED');
    },
  );

  it('cannot come from an agent with the name of a person, at any door', async () => {
    const { tenant, escalated, vote, as } = await workspaceOf();
    const params = { directory: 'agents', principal: anna.toUpperCase() } as const;
    const enrolling = test.as(tenant).putIdentity({ params, body: { display_name: 'Olga' } });
    expect(await refusal(enrolling)).toBe('PERMISSION_DENIED');
    const body = { kind: 'agent', principal_id: anna.toUpperCase() } as never;
    expect(await refusal(test.as(tenant).createAccessKey({ body }))).toBe('PERMISSION_DENIED');
    expect(await vote(as(anna, 'owner'), (await escalated('one.call')).id)).toMatchObject({ state: 'approved' });
  });
});
