import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { StartedSystem } from '@countersign/local';
import { verifies } from '@countersign/testkit/verifies';
import { untilAnswered } from '@countersign/testkit/until';
import { personAt } from './_signed-in.ts';
import { kernelClient, scratchDataDir, startIn, type KernelClient } from './_system.ts';

const dataDir = scratchDataDir();
const timeoutMs = 120_000;
let system: StartedSystem | null = null;

beforeAll(() => runningSystem().then(() => undefined), timeoutMs);
afterAll(async () => {
  await system?.stop();
  dataDir.remove();
}, timeoutMs);

/** Its own, since each test ends it; durable, since that is what is tested. */
const runningSystem = async () => (system ??= await startIn(dataDir.path, {}, { durable: true }));
const kernelOf = (running: StartedSystem) => kernelClient(running, 'acme');

const session = { session_id: 's1' as never }; // the branded id of a literal that fits its pattern
const read = { ...session, action: 'tool.call', tool: 'crm.read', effect_level: 'E1' } as never; // defaults are the server's
const send = { ...session, action: 'tool.call', tool: 'mail.send', effect_level: 'E3' } as never;

/** Everything that has to outlive the process, as the kernel answers it. */
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
    'has every receipt, record, approval, budget and checkpoint after the restart, and goes on where it was',
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
      // Starting confirms the policy and may checkpoint; nothing that was there is gone or different.
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
    timeoutMs,
  );
});

describe('a system that is stopped', () => {
  it(
    'reports its stop and its end, and nothing of processes that it ends itself, also with a follower',
    async () => {
      const running = await runningSystem();
      const { tab, workspaceId } = await personAt(running.gatewayUrl, 'follower@example.org');
      const followed = await tab.follow(`/api/events?workspaceId=${workspaceId}`);
      expect(followed.status).toBe(200);
      const before = running.said.length;
      await running.stop();
      system = null;
      await followed.ended;
      await untilAnswered(() => Promise.resolve(running.said.includes('Stopped.')));
      expect(running.said.slice(before)).toEqual(['', 'Stopping …', 'Stopped.']);
    },
    timeoutMs,
  );
});
