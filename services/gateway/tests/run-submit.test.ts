import { describe, expect, it } from '@jest/globals';
import type { Task } from '@countersign/contracts/gateway';
import type { Context } from '../src/context.ts';
import { KernelError, notConfigured } from '../src/governance/kernel-error.ts';
import { assertMayMove } from '../src/orchestrator/enqueue-run.ts';
import { submitStep } from '../src/orchestrator/submit-step.ts';
import type { StepFacts } from '../src/runs/conversation.ts';

const lease = { workspaceId: 'wsp_1', taskId: 'tsk_1', runId: 'run_1', owner: 'worker', fence: 3, startedBy: 'usr_1' };
const { signal } = new AbortController();
const modelCall: StepFacts = {
  ...{ id: 'stp_1', seq: 1, kind: 'model_call', state: 'submitted', tool: null, callId: null, args: '{"a":1}' },
  ...{ proposal: null, grantId: null, decisionId: null, startedAt: new Date(7), reply: null, toolReply: null },
};
const proposal = { decisionId: 'dec_0', receiptId: 'rcp_0', notBefore: new Date(5).toISOString() };
const toolCall: StepFacts = { ...modelCall, kind: 'tool_call', tool: 'files.write', callId: 'call_1' };

/** Submits a step to a kernel that records requests and answers with `answer`. */
async function submitted(step: StepFacts, answer: () => Promise<unknown> = async () => 'governed', isClockNear = true) {
  const requests: unknown[] = [];
  const ask =
    (method: string) =>
    (...values: unknown[]) => {
      requests.push([method, ...values]);
      return answer();
    };
  const kernel = {
    ...{ callModel: ask('callModel'), callTool: ask('callTool'), recallDecision: ask('recallDecision') },
  };
  const clockGuard = { isNear: async () => isClockNear };
  const result = await submitStep({ kernel, clockGuard } as never, lease, step, signal);
  return { asked: requests, result };
}

describe('a submitted step', () => {
  const governed = { workspaceId: 'wsp_1', runId: 'run_1', startedBy: 'usr_1', startedAt: new Date(7), signal };
  const first = { ...governed, idempotencyKey: 'stp_1', approvalGrant: null };
  const granted = { ...governed, idempotencyKey: 'stp_1.dec_1', approvalGrant: 'apr_1' };
  const call = { tool: 'files.write', args: '{"a":1}' };
  const grant = { grantId: 'apr_1', decisionId: 'dec_1' };

  it.each([
    ['a model call', modelCall, ['callModel', first, '{"a":1}']],
    ['an approved model call', { ...modelCall, ...grant }, ['callModel', granted, '{"a":1}']],
    ['a tool call', toolCall, ['callTool', first, call]],
    ['a tool call that the kernel withheld', { ...toolCall, proposal }, ['recallDecision', first, call, proposal]],
    ['a withheld tool call that was approved', { ...toolCall, proposal, ...grant }, ['callTool', granted, call]],
  ])('is sent with the request for %s', async (_what, step, way) => {
    expect(await submitted(step)).toEqual({ asked: [way], result: { kind: 'answered', governed: 'governed' } });
  });

  it('is not sent anywhere without a kernel', async () => {
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
  ] as const)('with %s may have been executed: %s', async (code, isUnheard) => {
    const error = new KernelError('unreachable', code, 'It failed');
    const message = isUnheard ? 'It failed. The call may have been made.' : 'It failed';
    const { result } = await failed(error);
    expect(result).toMatchObject({ kind: 'failed', error: { kind: 'unreachable', code, message } });
  });

  it('stays submitted while the clock of the gateway is wrong, since the kernel refuses its statements', async () => {
    const refused = () => Promise.reject(new KernelError('unreachable', 'GOVERNANCE_MALFORMED', 'It failed'));
    await expect(submitted(toolCall, refused, false)).rejects.toMatchObject({
      kind: 'interrupted',
      code: 'INTERRUPTED',
    });
  });

  it.each([
    ['while the worker stops', new KernelError('interrupted', 'INTERRUPTED', 'The worker is stopping')],
    ['by a fault of the gateway', new TypeError('undefined is not a function')],
  ])('stays submitted when it fails %s', async (_why, error) => {
    await expect(failed(error)).rejects.toBe(error);
  });
});

describe('a task', () => {
  it.each([
    ['running', 'queued', ['cancelled']],
    ['awaiting_approval', 'queued', ['cancelled']],
    ['completed', 'cancelled', ['queued']],
    ['pending', 'running', ['queued', 'cancelled']],
  ] as const)('that is %s cannot become %s, and the error lists the allowed statuses', (status, to, allowed) => {
    const refusal = { code: 'ILLEGAL_TRANSITION', param: 'status', details: { status, allowed } };
    expect(() => assertMayMove({ status } as Task, to)).toThrow(expect.objectContaining(refusal));
  });

  it('that is pending, completed, failed or cancelled can become queued', () => {
    for (const status of ['pending', 'completed', 'failed', 'cancelled'] as const)
      expect(() => assertMayMove({ status } as Task, 'queued')).not.toThrow();
  });
});
