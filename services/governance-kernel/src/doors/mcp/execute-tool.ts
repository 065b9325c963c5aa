import type { PlainJson } from '@countersign/contracts';
import type { Outcome } from '@countersign/contracts/governance-kernel';
import { definedMembers } from '@countersign/crypto';
import type { Log } from '@countersign/service-kit';
import type { Effects, Performed } from '../../decision/dispatch.ts';
import type { Ended } from '../../decision/sealed-decision.ts';
import type { ToolCall } from '../../call/governed-call.ts';
import type { ToolResult } from './send-operation.ts';
import type { ToolAnswer } from './tool-upstream.ts';
import type { CallOptions } from './permitted-sender.ts';

type ToolRequest = Pick<
  ToolCall,
  'caller' | 'session' | 'tool' | 'args' | 'malformedArguments' | 'context' | 'approvalGrant' | 'idempotency'
> &
  Partial<Pick<ToolCall, 'resource'>>;

export type ToolExecution = Performed<ToolResult>;

export type ToolExecutor = { execute(request: ToolRequest, options: CallOptions, log: Log): Promise<ToolExecution> };

/** Executes tools. All tool calls of the kernel use it. */
export function createToolExecutor(tools: Effects<CallOptions, ToolAnswer>): ToolExecutor {
  return {
    execute: (request, options, log) =>
      tools.perform({
        call: { resource: null, ...request, kind: 'tool' },
        request: options,
        receive: ({ outcome, result }) => ({ ...endedWith(outcome, result), result }),
        failed: { outcome: 'uncertain' },
        log,
      }),
  };
}

/**
 * The settlement of a call. If its outcome is uncertain, the result is a text for the caller and not output of the
 * tool.
 */
function endedWith(outcome: Outcome, result: ToolResult): Ended {
  return outcome === 'uncertain' ? { outcome } : { outcome, output: plain(result) };
}

/** A result that is not plain JSON (a lone surrogate) cannot be hashed directly, but its text form can. */
function plain(result: ToolResult): PlainJson | string {
  try {
    return definedMembers(result);
  } catch {
    return Buffer.from(JSON.stringify(result)).toString('base64');
  }
}
