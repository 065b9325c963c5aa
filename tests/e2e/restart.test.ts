import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { StartedSystem } from '@countersign/local';
import { verifies } from '@countersign/testkit/verifies';
import { untilAnswered } from '@countersign/testkit/until';
import { personAt } from './_signed-in.ts';
import { kernelClient, scratchDataDir, startIn, type KernelClient } from './_system.ts';

const dataDir = scratchDataDir();
let system: StartedSystem | null = null;

beforeAll(() => runningSystem().then(() => undefined));
afterAll(async () => {
  await system?.stop();
  dataDir.remove();
});

/** A system of this file, since each test ends it. It is durable, since durability is tested. */
const runningSystem = async () => (system ??= await startIn(dataDir.path, {}, { durable: true }));
const kernelOf = (running: StartedSystem) => kernelClient(running, 'acme');

const session = { session_id: 's1' as never }; // a valid literal of the branded type
const read = { ...session, action: 'tool.call', tool: 'crm.read', effect_level: 'E1' } as never; // the server adds defaults
const send = { ...session, action: 'tool.call', tool: 'mail.send', effect_level: 'E3' } as never;

/** Everything that must survive the process, as the kernel returns it. */
async function kept(kernel: KernelClient) {
  const [receipts, records, approvals, budgets, checkpoints] = await Promise.all([
    kernel.listReceipts(),
    kernel.listRecords(),
    kernel.listApprovals(),
    kernel.listBudgets(),
    kernel.listCheckpoints(),
  ]);
  return [receipts, records, approvals, budgets, checkpoints].map(({ body }) => body.data as unknown[]);
}

describe('a system that is killed', () => {
  verifies(
    'kn.restart',
    'has every receipt, record, approval, budget and checkpoint after the restart, and continues from there',
    async () => {
      const running = await runningSystem();
      const kernel = kernelOf(running);
      await kernel.putBudget({
        params: { budget_id: 'reads' },
        body: { subject: 'tool:crm.read', window: 'total', tool_call_limit: 2 } as never,
      });
      await kernel.evaluate({ body: read });
      const waiting = await kernel.evaluate({ body: send });
      await kernel.createCheckpoint();
      const before = await kept(kernel);
      await running.kill();
      system = null;

      const again = kernelOf(await runningSystem());
      const after = await kept(again);
      // The start confirms the policy and may make a checkpoint. Earlier rows must be unchanged.
      before.forEach((rows, index) => expect(after[index]).toEqual(expect.arrayContaining(rows)));
      const next = await again.evaluate({ body: read });
      expect(next.body).toMatchObject({ verdict: 'ALLOW', lamport_clock: waiting.body.lamport_clock + 1 });
      const spent = await again.evaluate({ body: read });
      expect(spent.body).toMatchObject({ verdict: 'DENY', reason_code: 'BUDGET_EXCEEDED' });
      const verified = await again.verifyRecord({ params: { record_id: next.body.record_id } });
      expect(verified.body.verified).toBe(true);
      const pending = await again.evaluate({ body: send });
      expect(pending.body.approval?.approval_id).toBe(waiting.body.approval?.approval_id);
    },
  );
});

describe('a system that is stopped', () => {
  it('reports its stop and its end, and no exits of processes that it ends itself, even with an open stream', async () => {
    const running = await runningSystem();
    const { tab, workspaceId } = await personAt(running.gatewayUrl, 'follower@example.org');
    const followed = await tab.follow(`/api/events?workspaceId=${workspaceId}`);
    expect(followed.status).toBe(200);
    const before = running.lines.length;
    await running.stop();
    system = null;
    await followed.ended;
    await untilAnswered(() => Promise.resolve(running.lines.includes('Stopped.')));
    expect(running.lines.slice(before)).toEqual(['', 'Stopping …', 'Stopped.']);
  });
});
