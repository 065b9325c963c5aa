import { describe, expect, it } from '@jest/globals';
import { endSession, getWorkspaceSettings, putWorkspaceMode, runTask } from '@countersign/contracts/gateway';
import { answer } from '@countersign/service-kit';
import { handleSession, handleWorkspace } from '../src/handle.ts';
import { rowsOf, signInAs, startRun, startTestGateway, testConfig, testDatabase } from './_gateway.ts';

/** The compiler checks these tests. If a wrong reply compiles, the expected error is missing and the check fails. */
describe('the compiler', () => {
  it('refuses a reply of a workspace route that violates its contract', () => {
    const endpoint = handleWorkspace(putWorkspaceMode)(({ caller, body }) => ({
      id: caller.workspaceId,
      mode: body.mode,
    }));
    // @ts-expect-error -- the mode is unknown
    handleWorkspace(putWorkspaceMode)(({ caller }) => ({ id: caller.workspaceId, mode: 'nonsense' }));
    // @ts-expect-error -- the mode is missing
    handleWorkspace(putWorkspaceMode)(async ({ caller }) => ({ id: caller.workspaceId }));
    // @ts-expect-error -- an answer with its own status must have the same reply
    handleWorkspace(runTask)(async () => answer(202, { status: 'denied' }));
    // @ts-expect-error -- the other sections are missing
    handleWorkspace(getWorkspaceSettings)(async () => ({ budgetConfig: { monthlyLlmBudget: 1, currency: 'EUR' } }));
    expect(endpoint.route).toBe(putWorkspaceMode);
  });

  it('refuses a reply of a session route that violates its contract', () => {
    const endpoint = handleSession(endSession)(() => ({ ok: true }));
    // @ts-expect-error -- the contract has no failure for this route
    handleSession(endSession)(() => ({ ok: false }));
    expect(endpoint.route).toBe(endSession);
  });
});

describe('outside production', () => {
  it('a reply that violates its contract is not sent', async () => {
    const database = await testDatabase();
    const config = testConfig(database, { GOV_RUN_WORKERS: '0' });
    const checking = await startTestGateway(config);
    const trusting = await startTestGateway({ ...config, checksReplies: false });
    try {
      const person = await signInAs(checking.url, 'ada@example.org');
      const { taskId, runId } = await startRun(person);
      await rowsOf(database, 'UPDATE runs SET iterations_used = -1 WHERE id = $1', [runId]);
      const statusAt = async (url: string) =>
        (await fetch(new URL(`/api/tasks/${taskId}/runs`, url), { headers: person.headers })).status;
      expect([await statusAt(checking.url), await statusAt(trusting.url)]).toEqual([500, 200]);
    } finally {
      await checking.stop();
      await trusting.stop();
      await database.drop();
    }
  });
});
