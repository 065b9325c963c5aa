import type { PlainJson } from '@countersign/contracts';
import { executeMcp, type McpExecution as McpExecutionShape } from '@countersign/contracts/governance-kernel';
import { answer, prepared } from '@countersign/service-kit';
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { z } from 'zod';
import { neverAborted, type KeptAnswers, type KeyedCall } from '../../decision/kept-answers.ts';
import { givenArguments } from '../../call/governed-call.ts';
import { handleTenant } from '../../handle.ts';
import type { ToolExecution, ToolExecutor } from '../../doors/mcp/execute-tool.ts';
import { toolResult, uncertainResult } from '../../doors/mcp/tool-result.ts';

type McpExecution = z.infer<typeof McpExecutionShape>;

type ExecuteMcpDeps = {
  executor: ToolExecutor;
  keptAnswers: Pick<KeptAnswers, 'find' | 'keep'>;
  /** The longest time from a decision to the sealed outcome. */
  toolCallMsMax: number;
};

/** Decides and executes one tool call. With an Idempotency-Key, the call is decided once and sent at most once. */
export const executeMcpRoute = (kernel: ExecuteMcpDeps) =>
  handleTenant(executeMcp, { idempotency: 'handler' })(
    async ({ body, caller, idempotency, signal, traceparent, log }) => {
      const { tool, args, session_id: session, context, approval_grant: approvalGrant } = body;
      const request = { caller, session, tool, ...givenArguments(args), context, approvalGrant };
      if (idempotency === null) {
        const execution = await kernel.executor.execute(request, { signal, traceparent }, log);
        return executionAnswer(tool, execution);
      }
      const route = executeMcp.operation;
      const keyed = { caller, route, claim: idempotency, runningMsMax: kernel.toolCallMsMax };
      const underKey = { ...request, idempotency: { ...idempotency, route } };
      const execution = await kernel.executor.execute(underKey, { signal: neverAborted, traceparent }, log);
      if (execution.kind === 'replayed') return await replay(kernel, { tool, keyed, execution });
      if (execution.kind === 'performed') {
        const text = JSON.stringify(executionReply(tool, execution));
        await kernel.keptAnswers.keep(keyed, { status: 200, headers: {}, text }, log);
      }
      return executionAnswer(tool, execution);
    },
  );

function executionAnswer(tool: string, execution: ToolExecution) {
  const status = execution.kind === 'refused' ? 403 : 200;
  return answer(status, executionReply(tool, execution), execution.decision.headers);
}

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
    ...(execution.kind === 'performed' ? { outcome_sealed: receiptId !== undefined } : {}),
  };
}

type Replayed = { tool: string; keyed: KeyedCall; execution: ToolExecution };

/**
 * Answers a repeated request with the stored answer. Without a stored answer, the outcome is reported as uncertain. The
 * call is not sent again.
 */
async function replay({ keptAnswers }: ExecuteMcpDeps, { tool, keyed, execution: { decision } }: Replayed) {
  const { reply, headers } = decision;
  const replayed = { ...headers, 'idempotency-replayed': 'true' };
  const kept = await keptAnswers.find(keyed, decision);
  if (kept !== null) return prepared(kept.status, kept.text, replayed);
  const result = uncertainResult(tool, reply);
  return answer(200, { decision: reply, result: plain(result), is_error: true }, replayed);
}

function plain(result: CallToolResult): Record<string, PlainJson> {
  return JSON.parse(JSON.stringify(result)) as Record<string, PlainJson>; // an object stays an object in JSON
}
