import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { until, untilAnswered } from '@countersign/testkit/until';
import type { StartedGateway } from '../src/index.ts';
import { rowsOf, runReaching, signInAs, startRun, startTestGateway, testConfig, testDatabase } from './_gateway.ts';
import { KernelStub } from './_kernel-stub.ts';

let database: TestDatabase;
let gateway: StartedGateway;
const kernel = new KernelStub();

beforeAll(async () => {
  database = await testDatabase();
  await kernel.start();
  const governance = { GOV_GOVERNANCE_URL: kernel.url };
  gateway = await startTestGateway(testConfig(database, { ...governance, GOV_TRUSTED_PUBLIC_KEYS: kernel.publicKey }));
});
beforeEach(() => {
  kernel.tools = ['files.read', 'files.write'];
  kernel.paths.length = 0;
  kernel.roles.length = 0;
});
afterAll(async () => {
  await gateway?.stop();
  await kernel.kill();
  await database?.drop();
});

/**
 * Removes the kernel's confirmation of the settings of a workspace. The courier has delivered them and will not check
 * again for an hour.
 */
async function forgetConfirmation(workspaceId: string): Promise<void> {
  const isPostponed = `SELECT 1 FROM workspaces WHERE id = $1 AND settings_due_at > now() + interval '1 minute'`;
  await untilAnswered(async () => (await rowsOf(database, isPostponed, [workspaceId])).length === 1);
  await rowsOf(database, 'DELETE FROM confirmed_settings WHERE workspace_id = $1', [workspaceId]);
}

describe('a run', () => {
  it('delivers its settings, lists the tools once, and sends each step once, with the receipt in the answer', async () => {
    kernel.say = (messages) =>
      messages.filter(({ role }) => role === 'tool').length < 2
        ? { calls: [{ name: 'files__write', args: { n: messages.length } }] }
        : { text: 'All done.' };
    const ada = await signInAs(gateway.url, 'ada@example.org');
    await forgetConfirmation(ada.workspace.id);
    kernel.paths.length = 0;
    const run = await runReaching(ada, (await startRun(ada)).taskId);
    expect([run.status, run.steps.length]).toEqual(['completed', 5]);
    // The gateway reads the keys of receipts at intervals, so their number depends on the speed of the machine.
    const paths = kernel.paths.filter((path) => path !== '/api/v1/trust/keys');
    expect(paths).toEqual([
      `/internal/budgets/${ada.workspace.id}/ceiling.llm_month`,
      `/internal/policy/blocks/${ada.workspace.id}`,
      '/mcp/v1/capabilities',
      '/v1/chat/completions',
      '/mcp/v1/execute',
      '/v1/chat/completions',
      '/mcp/v1/execute',
      '/v1/chat/completions',
    ]);
    expect(new Set(kernel.roles)).toEqual(new Set(['agent']));
    const { body: receipts } = await ada.client.listGovernanceReceipts();
    expect(receipts.data).toHaveLength(5);
  });

  it('ends with a reason when its workspace has more tools than a model request can contain', async () => {
    kernel.tools = Array.from({ length: 129 }, (_, index) => `files.tool_${index}`);
    const bob = await signInAs(gateway.url, 'bob@example.org');
    const requestCount = kernel.modelCalls.length;
    const run = await runReaching(bob, (await startRun(bob)).taskId);
    expect(run).toMatchObject({ status: 'failed', error: { code: 'INVALID_REQUEST' } });
    expect(run.error?.message).toContain('at most 128');
    expect(kernel.modelCalls).toHaveLength(requestCount);
    // The approvals of a failed run are withdrawn. The next test counts requests, so this test waits for that.
    await until(() => kernel.paths.includes('/api/v1/approvals'));
  });
});
