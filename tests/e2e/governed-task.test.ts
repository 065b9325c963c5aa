import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect } from '@jest/globals';
import type { Run } from '@countersign/contracts/gateway';
import { verifies } from '@countersign/testkit/verifies';
import { untilAnswered } from '@countersign/testkit/until';
import { addressBook, kernelClient, type SignedIn, signIn } from './_system.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';

const address = addressBook();

let system: SharedSystem;
let owner: SignedIn;
let owners = 0;

beforeAll(async () => {
  system = await sharedSystem();
});
beforeEach(async () => {
  owner = await signIn(system, address(`founder-${(owners += 1)}`));
});

/** Creates and starts a task whose text is the script of the scripted model. */
async function startTask(description: string): Promise<string> {
  const { body: task } = await owner.client.createTask({ body: { title: 'A task', description } });
  await owner.client.runTask({ params: { id: task.id } });
  return task.id;
}

async function runWith(taskId: string, status: Run['status']): Promise<Run> {
  return await untilAnswered(async () => {
    const { body } = await owner.client.listRuns({ params: { id: taskId } });
    const [run] = body.data;
    if (run?.status !== status && ['completed', 'failed', 'denied'].includes(run?.status ?? ''))
      throw new Error(JSON.stringify(run));
    return run?.status === status && run;
  });
}

describe('a task, through the gateway, the queue and the real kernel', () => {
  verifies(
    'gw.task.run',
    'reads a real file through the real MCP server, with a verified receipt for each step',
    async () => {
      const file = join(system.filesDir, 'notes.md');
      writeFileSync(file, 'Answer the customer.\n');
      const run = await runWith(
        await startTask(`call:files__read_text_file ${JSON.stringify({ path: file })}`),
        'completed',
      );
      expect(run.steps.map(({ kind, verdict }) => `${kind} ${verdict}`)).toEqual([
        'model_call ALLOW',
        'tool_call ALLOW',
        'model_call ALLOW',
      ]);
      expect(run.result).toContain('Answer the customer.');
      const kernel = kernelClient(system, owner.workspaceId);
      for (const { receiptId, decisionId } of run.steps) {
        const { body } = await kernel.getReceipt({ params: { receipt_id: receiptId ?? '' } });
        expect(body.payload).toMatchObject({ decision_id: decisionId, tenant_id: owner.workspaceId, verdict: 'ALLOW' });
      }
    },
  );

  verifies(
    'gw.run.escalate',
    'waits before a write that is hard to undo, and executes it once after an owner approves',
    async () => {
      const file = join(system.filesDir, 'letter.md');
      const taskId = await startTask(
        `call:files__write_file ${JSON.stringify({ path: file, content: 'Dear customer' })}`,
      );
      await runWith(taskId, 'awaiting_approval');
      expect(existsSync(file)).toBe(false);
      const { body } = await owner.client.listWorkspaceApprovals({ query: { status: 'pending' } });
      await owner.client.resolveWorkspaceApproval({
        params: { id: body.data[0]?.id ?? '' },
        body: { status: 'approved' },
      });
      const run = await runWith(taskId, 'completed');
      expect(readFileSync(file, 'utf8')).toBe('Dear customer');
      expect(run.outcome).toBe('allow');
      const { body: receipts } = await kernelClient(system, owner.workspaceId).listReceipts({
        query: { tool: 'files.write_file', kind: 'outcome' },
      });
      expect(receipts.data).toHaveLength(1);
    },
  );

  verifies('gw.task.run', 'ends a run as denied when the policy denies a call, and executes nothing', async () => {
    const file = join(system.filesDir, 'records', '2026.csv');
    mkdirSync(join(system.filesDir, 'records'), { recursive: true });
    writeFileSync(file, 'date,amount\n');
    const taskId = await startTask(`call:files__write_file ${JSON.stringify({ path: file, content: 'gone' })}`);
    const run = await endOf(taskId);
    expect(run.steps.some(({ verdict, reasonCode }) => verdict === 'DENY' && reasonCode === 'POLICY_DENIED')).toBe(
      true,
    );
    expect(readFileSync(file, 'utf8')).toBe('date,amount\n');
  });

  verifies(
    'gw.run.budget',
    "ends with the kernel's decision and receipt when the tool is blocked or the monthly budget is spent",
    async () => {
      const params = { id: owner.workspaceId };
      const listing = `call:files__list_directory ${JSON.stringify({ path: system.filesDir })}`;
      const policyConfig = {
        maxIterationBudget: 25,
        blockedTools: ['files.list_directory'],
        deniedCall: 'end' as const,
      };
      await owner.client.putWorkspaceSettings({ params, body: { policyConfig } });
      const blocked = await endOf(await startTask(listing));
      expect(blocked).toMatchObject({ status: 'denied', error: { code: 'TOOL_BLOCKED' } });
      expect(await sealedAs(blocked)).toEqual(['tool.call', 'files.list_directory', 'DENY', 'TOOL_BLOCKED']);

      const budgetConfig = { monthlyLlmBudget: 0.01, currency: 'USD' };
      const freed = { policyConfig: { ...policyConfig, blockedTools: [] }, budgetConfig };
      await owner.client.putWorkspaceSettings({ params, body: freed });
      const poor = await endOf(await startTask(listing));
      expect(poor).toMatchObject({ status: 'budget_exhausted', error: { code: 'BUDGET_EXCEEDED' } });
      expect(await sealedAs(poor)).toEqual(['model.call', null, 'DENY', 'BUDGET_EXCEEDED']);
      const { body: budgets } = await kernelClient(system, owner.workspaceId).listBudgets();
      expect(budgets.data).toMatchObject([{ budget_id: 'ceiling.llm_month', spend_limit_minor: 1, currency: 'USD' }]);
      expect(budgets.data[0]?.used.spend_minor).toBeGreaterThan(0);
    },
  );
});

async function endOf(taskId: string): Promise<Run> {
  return await untilAnswered(async () => {
    const { body } = await owner.client.listRuns({ params: { id: taskId } });
    return body.data[0]?.endedAt ? body.data[0] : null;
  });
}

/** The sealed verdict and reason of a run's last step. */
async function sealedAs({ steps }: Run): Promise<(string | null)[]> {
  const params = { receipt_id: steps.at(-1)?.receiptId ?? '' };
  const { payload } = (await kernelClient(system, owner.workspaceId).getReceipt({ params })).body;
  return [payload.action, payload.tool, payload.verdict, payload.reason_code];
}
