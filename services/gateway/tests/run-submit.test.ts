import { describe, expect, it } from '@jest/globals';
import type { Task } from '@countersign/contracts/gateway';
import type { Context } from '../src/context.ts';
import { KernelError } from '../src/governance/kernel-error.ts';
import { assertMayMove } from '../src/orchestrator/enqueue-run.ts';
import { notConfigured, submitStep } from '../src/orchestrator/submit-step.ts';
import type { StepFacts } from '../src/runs/conversation.ts';

const lease = { workspaceId: 'wsp_1', taskId: 'tsk_1', runId: 'run_1', owner: 'worker', fence: 3, startedBy: 'usr_1' };
const { signal } = new AbortController();
const modelCall: StepFacts = {
  ...{ id: 'stp_1', seq: 1, kind: 'model_call', state: 'submitted', tool: null, callId: null, args: '{"a":1}' },
  ...{ proposal: null, grantId: null, decisionId: null, startedAt: new Date(7), reply: null, toolReply: null },
};
const proposal = { decisionId: 'dec_0', receiptId: 'rcp_0', notBefore: new Date(5).toISOString() };
const toolCall: StepFacts = { ...modelCall, kind: 'tool_call', tool: 'files.write', callId: 'call_1' };

/** Submits to a kernel that keeps how it was asked, and answers by `answer`. */
async function submitted(step: StepFacts, answer: () => Promise<unknown> = async () => 'governed', isClockNear = true) {
  const asked: unknown[] = [];
  const ask =
    (method: string) =>
    (...given: unknown[]) => {
      asked.push([method, ...given]);
      return answer();
    };
  const kernel = {
    ...{ callModel: ask('callModel'), callTool: ask('callTool'), recallDecision: ask('recallDecision') },
  };
  const clockGuard = { isNear: async () => isClockNear };
  const result = await submitStep({ kernel, clockGuard } as never, lease, step, signal);
  return { asked, result };
}

describe('a step that is put to the kernel', () => {
  const governed = { workspaceId: 'wsp_1', runId: 'run_1', startedBy: 'usr_1', startedAt: new Date(7), signal };
  const first = { ...governed, idempotencyKey: 'stp_1', approvalGrant: null };
  const granted = { ...governed, idempotencyKey: 'stp_1.dec_1', approvalGrant: 'apr_1' };
  const call = { tool: 'files.write', args: '{"a":1}' };
  const grant = { grantId: 'apr_1', decisionId: 'dec_1' };

  it.each([
    ['a call of the model', modelCall, ['callModel', first, '{"a":1}']],
    ['one that was approved', { ...modelCall, ...grant }, ['callModel', granted, '{"a":1}']],
    ['a call of a tool', toolCall, ['callTool', first, call]],
    ['one that the kernel withheld', { ...toolCall, proposal }, ['recallDecision', first, call, proposal]],
    ['one that it withheld and that was approved', { ...toolCall, proposal, ...grant }, ['callTool', granted, call]],
  ])('is %s', async (_what, step, way) => {
    expect(await submitted(step)).toEqual({ asked: [way], result: { kind: 'answered', governed: 'governed' } });
  });

  it('is not put anywhere without a kernel', async () => {
    const result = await submitStep({ kernel: null } as Context, lease, modelCall, signal);
    expect(result).toEqual({ kind: 'failed', error: notConfigured });
    expect(notConfigured).toMatchObject({ kind: 'unreachable', code: 'GOVERNANCE_NOT_CONFIGURED' });
  });
});

describe('a submission that failed', () => {
  const failed = (error: Error) => submitted(toolCall, () => Promise.reject(error));

  it.each([
    ['GOVERNANCE_TIMEOUT', true],
    ['GOVERNANCE_UNAVAILABLE', true],
    ['GOVERNANCE_MALFORMED', true],
    ['GOVERNANCE_KEYS_UNAVAILABLE', true],
    ['RECEIPT_UNVERIFIED', true],
    ['IDEMPOTENCY_IN_FLIGHT', true],
    ['GOVERNANCE_REFUSED', false],
    ['UPSTREAM_FAILED', false],
  ] as const)('by %s may have been made: %s', async (code, isUnheard) => {
    const error = new KernelError('unreachable', code, 'It failed');
    const message = isUnheard ? 'It failed. The call may have been made.' : 'It failed';
    const { result } = await failed(error);
    expect(result).toMatchObject({ kind: 'failed', error: { kind: 'unreachable', code, message } });
  });

  it('stays submitted while the clock of the gateway is far off: the kernel refuses what it states', async () => {
    const refused = () => Promise.reject(new KernelError('unreachable', 'GOVERNANCE_MALFORMED', 'It failed'));
    await expect(submitted(toolCall, refused, false)).rejects.toMatchObject({
      kind: 'interrupted',
      code: 'INTERRUPTED',
    });
  });

  it.each([
    ['because the worker stops', new KernelError('interrupted', 'INTERRUPTED', 'The worker is stopping')],
    ['by a fault of our own', new TypeError('undefined is not a function')],
  ])('%s stays submitted', async (_why, error) => {
    await expect(failed(error)).rejects.toBe(error);
  });
});

describe('a task', () => {
  it.each([
    ['running', 'queued', ['cancelled']],
    ['awaiting_approval', 'queued', ['cancelled']],
    ['completed', 'cancelled', ['queued']],
    ['pending', 'running', ['queued', 'cancelled']],
  ] as const)('that is %s does not become %s, and the refusal says what it may become', (status, to, allowed) => {
    const refusal = { code: 'ILLEGAL_TRANSITION', param: 'status', details: { status, allowed } };
    expect(() => assertMayMove({ status } as Task, to)).toThrow(expect.objectContaining(refusal));
  });

  it('that is at rest becomes queued', () => {
    for (const status of ['pending', 'completed', 'failed', 'cancelled'] as const)
      expect(() => assertMayMove({ status } as Task, 'queued')).not.toThrow();
  });
});
