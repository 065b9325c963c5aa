import type { DecisionReply } from '@countersign/contracts/governance-kernel';
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { ToolExecution } from './execute-tool.ts';
import { decisionMeta, refusalText } from './refusal.ts';

/** The MCP result of an execution: the upstream's own result with our proof, or a refusal that a model can read. */
export function toolResult(tool: string, execution: ToolExecution): CallToolResult {
  const { reply } = execution.decision;
  switch (execution.kind) {
    case 'refused':
      return { ...errorText(refusalText(tool, reply)), _meta: decisionMeta(reply) };
    case 'replayed':
      return uncertainResult(tool, reply);
    case 'performed': {
      const { questions: _questions, needs: _needs, ...result } = execution.result;
      return {
        ...result,
        _meta: {
          ...result._meta,
          ...decisionMeta(reply),
          'countersign/outcome': execution.outcome,
          'countersign/outcome_sealed': execution.receipt !== null,
          ...(execution.receipt ? { 'countersign/outcome_receipt_id': execution.receipt.payload.receipt_id } : {}),
        },
      };
    }
  }
}

/** The result of a call that was decided, and perhaps sent, by a process that died before it recorded the outcome. */
export function uncertainResult(tool: string, reply: DecisionReply): CallToolResult {
  const text = `${tool} was allowed earlier (receipt ${reply.receipt_id}); its outcome is uncertain and it is not executed again.`;
  return { ...errorText(text), _meta: { ...decisionMeta(reply), 'countersign/outcome': 'uncertain' } };
}

function errorText(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
