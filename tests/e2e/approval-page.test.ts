import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect } from '@jest/globals';
import type { PrincipalId } from '@countersign/contracts';
import type { Run } from '@countersign/contracts/gateway';
import { Browser } from '@countersign/testkit/browser';
import { verifies } from '@countersign/testkit/verifies';
import { untilAnswered } from '@countersign/testkit/until';
import { addressBook, kernelClient, type SignedIn, signIn } from './_system.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';

const address = addressBook();

let system: SharedSystem;
let owner: SignedIn;
let approverKey: string;

beforeAll(async () => {
  system = await sharedSystem();
  owner = await signIn(system, address('founder'));
  const body = { kind: 'approver', principal_id: 'carol' as PrincipalId, expires_in_days: 1 } as const;
  approverKey = (await kernelClient(system, owner.workspaceId).createAccessKey({ body })).body.key;
});

/** A run that waits for permission to write this file, and the approval page for it. */
async function parked(file: string): Promise<{ taskId: string; url: string }> {
  const description = `call:files__write_file ${JSON.stringify({ path: file, content: 'Dear customer' })}`;
  const { body: task } = await owner.client.createTask({ body: { title: 'A letter', description } });
  await owner.client.runTask({ params: { id: task.id } });
  await runIn(task.id, 'awaiting_approval');
  const { body } = await owner.client.listWorkspaceApprovals({ query: { status: 'pending' } });
  return { taskId: task.id, url: `/approvals/${body.data[0]?.kernelApprovalId ?? ''}` };
}

async function runIn(taskId: string, status: Run['status']): Promise<Run> {
  return await untilAnswered(async () => {
    const { body } = await owner.client.listRuns({ params: { id: taskId } });
    const [run] = body.data;
    return run?.status === status && run;
  });
}

async function decide(url: string, filled: Record<string, string>): Promise<string> {
  const browser = new Browser(system.kernelUrl);
  const shown = await browser.submit((await browser.open(url)).form('sign-in'), { key: approverKey });
  return (await browser.submit(shown.form(url), filled)).text;
}

describe('a run that waits for a decision on the approval page of the kernel', () => {
  verifies(
    'kn.approve.page',
    'ends as denied with the reason, in the run and in its step, and executes nothing',
    async () => {
      const file = join(system.filesDir, 'denied.md');
      const { taskId, url } = await parked(file);
      expect(await decide(url, { decision: 'deny', reason: 'Not to this customer.' })).toContain('denied');
      const run = await runIn(taskId, 'denied');
      const error = { code: 'APPROVAL_REJECTED', message: 'The approval was rejected: Not to this customer.' };
      expect([run.error, run.steps.at(-1)?.error]).toEqual([error, error]);
      expect(existsSync(file)).toBe(false);
      const { body: audit } = await owner.client.listAudit({ query: { action: 'approval.rejected' } });
      expect(audit.data[0]).toMatchObject({ actor: 'carol', verdict: 'deny' });
    },
  );

  verifies(
    'gw.run.escalate',
    'continues by itself after its approval on the page, and executes the call once',
    async () => {
      const file = join(system.filesDir, 'letter.md');
      const { taskId, url } = await parked(file);
      expect(await decide(url, { decision: 'approve' })).toContain('approved');
      expect(await runIn(taskId, 'completed')).toMatchObject({ outcome: 'allow' });
      expect(readFileSync(file, 'utf8')).toBe('Dear customer');
      const { body } = await owner.client.listWorkspaceApprovals({ query: { status: 'approved' } });
      expect(body.data).toMatchObject([{ resolvedBy: null }]);
    },
  );
});
