import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { AppError } from '@countersign/contracts';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { inPlace, placeOf } from '../src/orgs/reserve-place.ts';
import { putEntitlement } from '../src/store/entitlements.ts';
import { openStoreContext } from './_store-context.ts';

const orgId = OrgId.parse(`org_${'1'.repeat(26)}`);
let opened: Awaited<ReturnType<typeof openStoreContext>>;

beforeAll(async () => {
  opened = await openStoreContext();
});
afterAll(() => opened?.close());

beforeEach(async () => {
  const none = { tool_calls: null, concurrent_runs: null, members: null, connectors: null };
  const limits = { ...none, shadow_lanes: null, retention_days: null, workspaces: 2 };
  const event = { time: '2026-11-01T00:00:00.000Z', data: { org_id: orgId, limits } };
  await opened.context.transaction(async (tx) => {
    await tx.workspacePlace.deleteMany({ where: { orgId } });
    await putEntitlement(tx, event as never); // the members that the store reads
  });
});

const make = (org = orgId, key = placeOf(org, null)) => inPlace(opened.context, key, () => Promise.resolve('made'));

it('a workspace beyond the limit is refused before it is made, also in a race', async () => {
  const made = await Promise.allSettled([make(), make(), make(), make()]);
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  const refusal = { code: 'LIMIT_REACHED', details: { name: 'workspaces', limit: 2, used: 2 } };
  for (const one of made) if (one.status === 'rejected') expect(one).toMatchObject({ reason: refusal });
});

it('a repeated request keeps its place, and a request whose creation is refused releases its place', async () => {
  const key = { orgId, request: 'same' };
  for (let sent = 0; sent < 3; sent += 1) expect(await make(orgId, key)).toBe('made');
  const refused = () => Promise.reject(new AppError('RATE_LIMITED', 'Too many'));
  await expect(inPlace(opened.context, placeOf(orgId, null), refused)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  expect(await make()).toBe('made');
  await expect(make()).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
});

it('an organisation without published entitlements has no limit', async () => {
  const second = OrgId.parse(`org_${'2'.repeat(26)}`);
  for (let count = 0; count < 5; count += 1) expect(await make(second)).toBe('made');
});
