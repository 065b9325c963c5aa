import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { fenceSet, type Fence } from '@countersign/contracts/governance-kernel';
import { eventFactory } from '@countersign/messaging';
import { untilReachable } from '@countersign/testkit/until';
import { Caller, ledgerOf, answerOf } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';

const policy = `
format: countersign/policy.v1
name: events
version: '1'
rules:
  - { id: all, effect: allow, match: { action: [tool.call] } }
`;

let test: TestKernel;
beforeEach(async () => {
  test = await startTestKernel();
  await test.activate('*', policy);
  await test.kernel.workers.subscribed;
});
afterEach(() => test.close());

let tenants = 0;
const newTenant = () => `told-${(tenants += 1)}`;
const newEvent = eventFactory({ source: '/control-plane' });
const decided = async (tenant: string) =>
  answerOf(await new Caller(test, tenant).decide({ tool: 'files.read', effect_level: 'E1' }));

type Command = Partial<Omit<Fence, 'scope'>>;
const commandOf = (tenant: string, command: Command) =>
  ({ scope: `tenant:${tenant}`, kind: 'freeze', epoch: 1, reason: 'a leak', set_by: 'olga', ...command }) as never; // the schema fills in the defaults

async function publish(body: object): Promise<void> {
  const { bus } = test.kernel.context;
  const { id = 'none', type = 'none' } = body as { id?: string; type?: string };
  const { unroutable } = await bus.publish([{ id, type, body: JSON.stringify(body), needsConsumer: true }]);
  expect(unroutable).toEqual([]);
}
const tell = (tenant: string, command: Command) => publish(newEvent(fenceSet, commandOf(tenant, command)).event);

async function current(tenant: string): Promise<Pick<Fence, 'kind' | 'epoch'> | null> {
  const { body } = await test.system
    .getFence({ params: { scope: `tenant:${tenant}` as Fence['scope'] } })
    .catch(() => ({ body: null }));
  return body === null ? null : { kind: body.kind, epoch: body.epoch };
}
const dead = async () => {
  const { rows } = await test.pool.query<{ reason: string }>('SELECT reason FROM dead_letters ORDER BY reason');
  return rows.map(({ reason }) => reason);
};

describe('a fence that a message sets', () => {
  it('stops calls, and is sealed with the person who set it', async () => {
    const tenant = newTenant();
    await tell(tenant, { epoch: 3 });
    await untilReachable(async () => (await current(tenant))?.epoch === 3);
    expect(await decided(tenant)).toBe('DENY SYSTEM_FROZEN');
    const sealed = (await ledgerOf(test, 'fences')).filter(({ payload }) => payload.tenant_id === tenant);
    expect(sealed.map(({ payload }) => [payload.action, payload.principal_id])).toEqual([['fence.set', 'olga']]);
  });

  it('is not replaced by a message that is older, repeated or of the same epoch', async () => {
    const tenant = newTenant();
    const first = newEvent(fenceSet, commandOf(tenant, { kind: 'open', epoch: 4 })).event;
    await publish(first);
    await tell(tenant, { epoch: 5 });
    await untilReachable(async () => (await current(tenant))?.epoch === 5);
    await publish(first);
    await publish({ ...first, id: 'evt_again' });
    await tell(tenant, { kind: 'open', epoch: 5 });
    const marker = newTenant();
    await tell(marker, {});
    await untilReachable(async () => (await current(marker)) !== null);
    await untilReachable(() => Promise.resolve(test.kernel.context.bus.status().handling === 0));
    expect(await current(tenant)).toEqual({ kind: 'freeze', epoch: 5 });
    expect(await decided(tenant)).toBe('DENY SYSTEM_FROZEN');
    expect(await dead()).toEqual([]);
  });

  it('is not set if its end has passed, and its message does not become a dead letter', async () => {
    const [tenant, marker] = [newTenant(), newTenant()];
    await tell(tenant, { expires_at: new Date(Date.now() - 60_000).toISOString() as Fence['effective_at'] }); // matches the schema
    await tell(marker, {});
    await untilReachable(async () => (await current(marker)) !== null);
    await untilReachable(() => Promise.resolve(test.kernel.context.bus.status().handling === 0));
    expect(await current(tenant)).toBeNull();
    expect(await dead()).toEqual([]);
  });

  it('is validated as strictly as a request: a malformed message becomes a dead letter and sets nothing', async () => {
    const tenant = newTenant();
    const { event } = newEvent(fenceSet, commandOf(tenant, {}));
    const data = event.data as object;
    await publish({ ...event, id: 'm1', data: { ...data, kind: 'throttle' } });
    await publish({ ...event, id: 'm2', data: { ...data, more: 1 } });
    await publish({ ...event, id: 'm3', data: { ...data, scope: 'tenant:' } });
    await publish({ ...event, id: 'm4', data: { ...data, scope: 'tool:*/\u200b' } });
    await untilReachable(async () => (await dead()).length === 4);
    expect((await dead()).filter((reason) => reason.startsWith('malformed event'))).toHaveLength(3);
    expect(await current(tenant)).toBeNull();
  });
});
