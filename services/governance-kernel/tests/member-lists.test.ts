import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { membersChanged } from '@countersign/contracts/gateway';
import { eventFactory } from '@countersign/messaging';
import { untilReachable } from '@countersign/testkit/until';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { ledgerOf, movableClock } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';
import { change, check } from './_relations.ts';

const time = movableClock('2026-11-22T10:00:00.000Z');
let test: TestKernel;
let second: StartedKernel;
beforeAll(async () => {
  test = await startTestKernel({ overrides: { clock: time.clock } });
  second = await startKernel(kernelConfigFrom(test.env), { clock: time.clock });
  await Promise.all([test.kernel.workers.subscribed, second.workers.subscribed]);
});
afterAll(async () => {
  await second.stop();
  await test.close();
});

let workspaces = 0;
const newWorkspace = () => `wsp_01ARZ3NDEKTSV4RRFFQ69G5F${String((workspaces += 1)).padStart(2, '0')}`;
const [ann, bob, eve] = ['A', 'B', 'E'].map((letter) => `usr_01ARZ3NDEKTSV4RRFFQ69G5FA${letter}`);
const newEvent = eventFactory({ source: '/gateway' });

type Roles = Record<string, 'owner' | 'partner' | 'member'>;
async function publish(body: { id: string; type: string }): Promise<void> {
  const { bus } = test.kernel.context;
  await bus.publish([{ id: body.id, type: body.type, body: JSON.stringify(body), needsConsumer: true }]);
}
function listOf(workspaceId: string, version: number, roles: Roles) {
  const members = Object.entries(roles).map(([userId, role]) => ({ userId, role }));
  return newEvent(membersChanged, { workspaceId, version, members } as never).event; // branded by the schema
}
const tell = (workspaceId: string, version: number, roles: Roles) => publish(listOf(workspaceId, version, roles));

const has = async (workspace: string, role: string, user = '') =>
  (await check(test.as(workspace), `workspace:${workspace}#${role}@user:${user}`)).decision;
const appliedVersion = async (workspace: string) => {
  const { rows } = await test.pool.query<{ members_version: number }>(
    'SELECT members_version FROM relation_heads WHERE tenant_id = $1',
    [workspace],
  );
  return rows[0]?.members_version ?? 0;
};
const applied = (workspace: string, version: number) =>
  untilReachable(async () => (await appliedVersion(workspace)) === version);

describe('a list of members', () => {
  it('becomes sealed relations with the workspace, and an owner is also a partner and a member', async () => {
    const workspace = newWorkspace();
    await tell(workspace, 1, { [`${ann}`]: 'owner', [`${bob}`]: 'member' });
    await applied(workspace, 1);
    expect([await has(workspace, 'member', ann), await has(workspace, 'partner', ann)]).toEqual([true, true]);
    expect([await has(workspace, 'member', bob), await has(workspace, 'owner', bob)]).toEqual([true, false]);
    await tell(workspace, 2, { [`${ann}`]: 'owner', [`${eve}`]: 'partner' });
    await applied(workspace, 2);
    expect([await has(workspace, 'member', bob), await has(workspace, 'partner', eve)]).toEqual([false, true]);
    const sealed = (await ledgerOf(test, 'relations')).filter(({ payload }) => payload.tenant_id === workspace);
    expect(sealed.map(({ payload, record }) => [payload.principal_id, record?.intent.facts])).toMatchObject([
      ['gateway', { version: 1, written: 4, deleted: 0 }],
      ['gateway', { version: 2, written: 1, deleted: 1 }],
    ]);
  });

  it('keeps relations that other callers wrote, in every tenant', async () => {
    const [workspace, neighbour] = [newWorkspace(), newWorkspace()];
    await change(test, workspace, {
      writes: [`workspace:${workspace}#auditor@user:${eve}`, `workspace:x#owner@user:${eve}`],
    });
    await tell(neighbour, 1, { [`${ann}`]: 'owner' });
    await tell(workspace, 1, { [`${bob}`]: 'owner' });
    await Promise.all([applied(workspace, 1), applied(neighbour, 1)]);
    await tell(workspace, 2, {});
    await applied(workspace, 2);
    expect([await has(workspace, 'owner', bob), await has(workspace, 'auditor', eve)]).toEqual([false, true]);
    expect(await has(neighbour, 'owner', ann)).toBe(true);
  });

  it('never replaces a later list when lists arrive late, twice or in any order at two kernels', async () => {
    const workspace = newWorkspace();
    const versions = Array.from({ length: 20 }, (_, index) => index + 1).sort(() => Math.random() - 0.5);
    const last = { [`${ann}`]: 'owner', [`${eve}`]: 'member' } as const;
    const lists = versions.map((version) =>
      listOf(workspace, version, version === 20 ? last : { [`${ann}`]: 'owner', [`${bob}`]: 'partner' }),
    );
    await Promise.all([...lists, ...lists].map(publish));
    await applied(workspace, 20);
    await tell(workspace, 19, { [`${bob}`]: 'owner' });
    const sentinel = newWorkspace();
    await tell(sentinel, 1, { [`${bob}`]: 'owner' });
    await applied(sentinel, 1);
    await untilReachable(async () => !(await has(workspace, 'partner', bob)) && (await has(workspace, 'member', eve)));
    expect([await has(workspace, 'owner', bob), await appliedVersion(workspace)]).toEqual([false, 20]);
  });

  it('confirms the relations when it is repeated, but not when it is older', async () => {
    const workspace = newWorkspace();
    const report = { [`${ann}`]: 'owner' } as const;
    await tell(workspace, 7, report);
    await applied(workspace, 7);
    const confirmedAt = async () => (await test.as(workspace).getAuthzHealth({})).body.snapshot?.confirmed_at;
    const before = await confirmedAt();
    time.advance(60_000);
    await tell(workspace, 6, report);
    const sentinel = newWorkspace();
    await tell(sentinel, 1, report);
    await applied(sentinel, 1);
    expect(await confirmedAt()).toBe(before);
    await tell(workspace, 7, report);
    await untilReachable(async () => (await confirmedAt()) === time.clock().toISOString());
    expect((await test.as(workspace).getAuthzHealth({})).body.snapshot?.version).toBe(1);
  });

  it('becomes a dead letter when its content is invalid', async () => {
    const workspace = newWorkspace();
    const event = listOf(workspace, 1, { [`${ann}`]: 'owner' });
    await publish({
      ...event,
      data: { workspaceId: workspace, version: 1, members: [{ userId: ann, role: 'god' }] },
    } as never);
    await untilReachable(async () => (await test.pool.query('SELECT 1 FROM dead_letters')).rowCount === 1);
    expect(await appliedVersion(workspace)).toBe(0);
  });
});
