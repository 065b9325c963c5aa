import { setTimeout as delay } from 'node:timers/promises';
import type { ApprovalId, TenantId } from '@countersign/contracts';
import type { ApprovalState } from '@countersign/contracts/governance-kernel';
import type { ToolExecutor } from './execute-tool.ts';

type WaitDeps = {
  /** The state of an approval. Throws NOT_FOUND. */
  findState(approval: { tenant: TenantId; id: ApprovalId }): Promise<ApprovalState>;
  /** The longest wait for an approval. With 0, an escalated call is answered at once. */
  waitMs: number;
};

/** The most calls that wait at a time. Each holds a connection and reads its approval twice a second. */
const waitingMax = 64;
/** One tenant must not use up the places of a kernel. */
const tenantWaitingMax = 32;
const lookEveryMs = 500;

export type ApprovalWaits = {
  /** Whether the approval is granted in time. `false` at once above the limit of waiting calls. */
  isGranted(approval: { tenant: TenantId; id: ApprovalId }, signal: AbortSignal): Promise<boolean>;
};

export function approvalWaits({ findState, waitMs }: WaitDeps): ApprovalWaits {
  const waiting: TenantId[] = [];
  const isGranted: ApprovalWaits['isGranted'] = async (approval, signal) => {
    const endsAtMs = performance.now() + waitMs;
    while (performance.now() < endsAtMs && !signal.aborted) {
      const leftMs = Math.max(0, endsAtMs - performance.now());
      await delay(Math.min(lookEveryMs, leftMs), undefined, { signal }).catch(() => undefined);
      const state = await findState(approval);
      if (state !== 'pending') return state === 'approved' && !signal.aborted;
    }
    return false;
  };
  return {
    isGranted: async (approval, signal) => {
      const { tenant } = approval;
      const own = waiting.filter((each) => each === tenant).length;
      if (waitMs === 0 || waiting.length >= waitingMax || own >= tenantWaitingMax) return false;
      waiting.push(tenant);
      try {
        return await isGranted(approval, signal);
      } finally {
        waiting.splice(waiting.indexOf(tenant), 1);
      }
    },
  };
}

/**
 * Executes calls for clients that cannot open a page. An escalated call waits for its approval, and is then decided
 * again with the approval. A call without an approval in time, or above the limit of waiting calls, gets the refusal.
 * The refusal contains the address of the approval.
 */
export function waitingExecutor(executor: ToolExecutor, waits: ApprovalWaits): ToolExecutor {
  return {
    execute: async (request, options, log) => {
      const first = await executor.execute(request, options, log);
      const { verdict, approval } = first.decision.reply;
      if (first.kind !== 'refused' || verdict !== 'ESCALATE' || approval === undefined) return first;
      const id = approval.approval_id;
      if (!(await waits.isGranted({ tenant: request.caller.tenant, id }, options.signal))) return first;
      return await executor.execute({ ...request, approvalGrant: id }, options, log);
    },
  };
}
