import type { PlainJson } from '@countersign/contracts';
import { executeMcp, type McpExecution as McpExecutionShape } from '@countersign/contracts/governance-kernel';
import { answer, inFlight, prepared, type IdempotencyClaim } from '@countersign/service-kit';
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { z } from 'zod';
import type { Caller } from '../call/governed-call.ts';
import { handleTenant } from '../handle.ts';
import type { ToolExecution, ToolExecutor } from '../mcp/execute-tool.ts';
import { toolResult, uncertainResult } from '../mcp/tool-result.ts';
import type { AnswerStore } from '../store/idempotency-store.ts';

type McpExecution = z.infer<typeof McpExecutionShape>;

type ExecuteMcpParts = {
  executor: ToolExecutor;
  answers: Pick<AnswerStore, 'find' | 'keep'>;
  clock: () => Date;
  callTimeoutMs: number;
};

/** Decides and executes one tool call. A key is decided once and dispatched at most once, whatever happens in between. */
export const executeMcpRoute = (kernel: ExecuteMcpParts) =>
  handleTenant(executeMcp, { idempotency: 'handler' })(async ({ body, caller, idempotency, signal, log }) => {
    const { tool, args, session_id: session, context, approval_grant: approvalGrant } = body;
    const key = idempotency === null ? undefined : { ...idempotency, route: executeMcp.operation };
    const request = { caller, session, tool, args, context, approvalGrant, idempotency: key };
    // A caller that goes away does not stop a keyed call: it will come back for the answer.
    const execution = await kernel.executor.execute(request, idempotency === null ? signal : neverAborted, log);
    if (execution.kind === 'replayed' && idempotency !== null)
      return await replay(kernel, { tool, caller, claim: idempotency, execution });
    const reply = executionReply(tool, execution);
    const status = execution.kind === 'refused' ? 403 : 200;
    if (idempotency !== null && execution.kind === 'performed') {
      // The tool has run: an answer that cannot be kept must not turn into an error.
      const kept = { status: 200, headers: {}, text: JSON.stringify(reply) };
      await kernel.answers
        .keep(scopeOf(caller), idempotency, kept)
        .catch((error: unknown) => log.error('tool_answer.not_kept', { error }));
    }
    return answer(status, reply, execution.decision.headers);
  });

const neverAborted = new AbortController().signal;

function executionReply(tool: string, execution: ToolExecution): McpExecution {
  const { decision } = execution;
  if (execution.kind === 'refused') return { decision: decision.reply, is_error: true };
  const result = toolResult(tool, execution);
  const receiptId = execution.kind === 'performed' ? execution.receipt?.payload.receipt_id : undefined;
  return {
    decision: decision.reply,
    result: plain(result),
    is_error: result.isError === true,
    ...(receiptId === undefined ? {} : { outcome_receipt_id: receiptId }),
  };
}

type Replayed = { tool: string; caller: Caller; claim: IdempotencyClaim; execution: ToolExecution };

/** The decision is an old one. Its answer is told again; without an answer nobody knows how the call ended, and it is not tried again. */
async function replay(kernel: ExecuteMcpParts, { tool, caller, claim, execution }: Replayed) {
  const { reply, headers } = execution.decision;
  const stored = await kernel.answers.find(scopeOf(caller), claim);
  if (stored !== null) return prepared(stored.status, stored.text, { ...headers, 'idempotency-replayed': 'true' });
  const mayStillRun = kernel.clock().getTime() < Date.parse(reply.receipt.payload.issued_at) + kernel.callTimeoutMs;
  if (mayStillRun) throw inFlight();
  const result = uncertainResult(tool, reply);
  return answer(
    200,
    { decision: reply, result: plain(result), is_error: true },
    { ...headers, 'idempotency-replayed': 'true' },
  );
}

/** Beside the decision, which keeps the key itself under the bare operation. */
function scopeOf({ tenant, principal }: Caller): string {
  return `${executeMcp.operation} answer ${tenant}\n${principal}`;
}

function plain(result: CallToolResult): Record<string, PlainJson> {
  return JSON.parse(JSON.stringify(result)) as Record<string, PlainJson>; // JSON of an object is one
}
