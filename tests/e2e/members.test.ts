import { beforeAll, expect, it } from '@jest/globals';
import { untilAnswered } from '@countersign/testkit/until';
import { addressBook, kernelClient, signIn } from './_system.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';

const address = addressBook();

let system: SharedSystem;

beforeAll(async () => {
  system = await sharedSystem();
});

it('the kernel has the relations of each member after a join, a change of role and a removal', async () => {
  const owner = await signIn(system, address('founder'));
  const guest = await signIn(system, address('guest'));
  const id = owner.workspaceId;
  const founder = (await owner.client.getMe()).body.user.id;
  const invited = (await guest.client.getMe()).body.user.id;
  const has = async (role: string, userId: string) => {
    const body = { object: `workspace:${id}`, relation: role, subject: `user:${userId}` } as never; // branded by the schema
    return (await kernelClient(system, id).checkRelation({ body })).body.decision;
  };
  await untilAnswered(() => has('owner', founder));
  const body = { email: address('guest'), role: 'member' } as never; // the schema brands it
  const { inviteToken: token } = (await owner.client.createInvite({ params: { id }, body })).body;
  await guest.client.acceptInvite({ params: { token }, body: { email: address('guest') } });
  await untilAnswered(() => has('member', invited));
  expect(await has('partner', invited)).toBe(false);
  const params = { id, userId: invited } as never;
  await owner.client.putMemberRole({ params, body: { role: 'partner' } });
  await untilAnswered(() => has('partner', invited));
  await owner.client.removeMember({ params });
  await untilAnswered(async () => !(await has('member', invited)));
  expect([await has('partner', invited), await has('member', founder)]).toEqual([false, true]);
});
