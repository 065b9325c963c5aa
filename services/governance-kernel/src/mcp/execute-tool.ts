import type { PlainJson } from '@countersign/contracts';
import type { Outcome } from '@countersign/contracts/governance-kernel';
import { parsePlainJson } from '@countersign/crypto';
import type { Log } from '@countersign/service-kit';
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Effects, Performed } from '../boundary/dispatch.ts';
import type { Ended } from '../boundary/sealed-decision.ts';
import type { ToolCall } from '../call/governed-call.ts';
import type { ToolAnswer } from './tool-upstream.ts';
import type { CallOptions } from './upstream-server.ts';

type ToolRequest = Pick<
  ToolCall,
  'caller' | 'session' | 'tool' | 'args' | 'malformedArguments' | 'context' | 'approvalGrant' | 'idempotency'
>;

export type ToolExecution = Performed<CallToolResult>;

export type ToolExecutor = { execute(request: ToolRequest, options: CallOptions, log: Log): Promise<ToolExecution> };

/** The one way a tool is executed here. */
export function createToolExecutor(tools: Effects<CallOptions, ToolAnswer>): ToolExecutor {
  return {
    execute: (request, options, log) =>
      tools.perform({
        call: { ...request, kind: 'tool', resource: null },
        request: options,
        receive: ({ outcome, result }) => ({ ...endedWith(outcome, result), result }),
        failed: { outcome: 'uncertain' },
        log,
      }),
  };
}

/** What is told to a caller of a call that nobody answered is no output of the tool. */
function endedWith(outcome: Outcome, result: CallToolResult): Ended {
  return outcome === 'uncertain' ? { outcome } : { outcome, output: plain(result) };
}

/** A result that is not plain JSON (a lone surrogate) cannot be hashed as such; its text form can. */
function plain(result: CallToolResult): PlainJson | string {
  try {
    return parsePlainJson(JSON.parse(JSON.stringify(result))); // parsePlainJson has just established it
  } catch {
    return Buffer.from(JSON.stringify(result)).toString('base64');
  }
}
