import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { AppError, PrincipalId, UserId, WorkspaceId } from '@countersign/contracts';
import type { Context } from '../src/context.ts';
import type { WorkspaceCaller } from '../src/guards.ts';
import { answerCommand } from '../src/ops/answer-command.ts';
import { giveStop } from '../src/ops/give-stop.ts';
import { getCommand } from '../src/store/stops.ts';
import { openStoreContext } from './_store-context.ts';

/** A control plane whose clock is 15 minutes behind. */
const behindMs = 15 * 60_000;
const workspaceId = WorkspaceId.parse(`wsp_${'0'.repeat(26)}`);
const userId = UserId.parse(`usr_${'7'.repeat(26)}`);
const acting = { userId, actor: PrincipalId.parse(userId), delegation: 'none' };
const caller = { ...acting, workspaceId, assertion: 'none' } as WorkspaceCaller; // no other member is read
let opened: Awaited<ReturnType<typeof openStoreContext>>;
let context: Context;

beforeAll(async () => {
  opened = await openStoreContext({ machineClock: () => new Date(Date.now() - behindMs) });
  context = opened.context;
});
afterAll(() => opened?.close());

const freeze = (target: string, ttl_seconds: number) =>
  giveStop(context, 'freeze', { target, ttl_seconds, reason: 'a leak' } as never, { caller, requestId: 'req_1' }); // a valid body

it('a stop ends by the clock of the database, even if the clock of the control plane is wrong', async () => {
  const startMs = await context.database.nowMs();
  const { givenAt, expiresAt } = await freeze('agent:heidi', 600);
  const endMs = await context.database.nowMs();
  expect(givenAt.getTime()).toBeGreaterThanOrEqual(Math.floor(startMs));
  expect(givenAt.getTime()).toBeLessThanOrEqual(endMs);
  expect(expiresAt?.getTime()).toBe(givenAt.getTime() + 600_000);
  await expect(context.clockGuard.assertNear()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
});

it('a stop that the kernel refuses as expired becomes outdated, and is not delivered again', async () => {
  const values = await freeze('agent:ivan', 1);
  const requests: unknown[] = [];
  const putFence = async ({ body }: { body: object }) => {
    requests.push(body);
    throw new AppError('END_PASSED', 'expires_at has passed');
  };
  const kernel = { own: () => ({ putFence }) } as never; // no other member is called
  for (let nth = 0; nth < 2; nth += 1)
    await expect(answerCommand({ ...context, kernel }, values, caller)).rejects.toMatchObject({ code: 'END_PASSED' });
  expect(requests).toMatchObject([{ epoch: values.epoch, expires_at: values.expiresAt?.toISOString() }]);
  expect(await getCommand(context.database.reader, values.id)).toMatchObject({ state: 'outdated', effectiveAt: null });
});
