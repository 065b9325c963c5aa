import type { ApprovalId, Instant, ReasonCode } from '@countersign/contracts';
import { refusalText } from '../mcp/refusal.ts';
import { isAllowed, type JudgedCall } from './judge-calls.ts';
import type { JsonObject } from './passive-members.ts';

/** The calls of a choice that reach the caller. */
export type Release = {
  /** Released members of `tool_calls`, in order. */
  allowed: JsonObject[];
  /** The withheld calls and the reasons, as text for a person or a model. `null` when no call is withheld. */
  withheld: string | null;
  /** The extension member `countersign` with the decisions. SDKs ignore unknown members. */
  summary: { decisions: DecisionSummary[] };
};

export type DecisionSummary = {
  tool: string;
  tool_call_id: string | null;
  verdict: string;
  reason_code: ReasonCode;
  decision_id: string;
  receipt_id: string;
  approval_id?: ApprovalId;
  approve_url?: string;
  expires_at?: Instant;
  /**
   * The name of a call that waits for an approval, as the model wrote it. With name and arguments, a caller can repeat
   * exactly this call later. Both are inert text, not a tool call.
   */
  name?: string;
  arguments?: string;
};

export function releaseCalls(judged: readonly JudgedCall[]): Release {
  const allowed = judged.filter(isAllowed);
  const refused = judged.filter((call) => !isAllowed(call));
  return {
    allowed: allowed.map(({ proposed }) => proposed.released),
    withheld:
      refused.length === 0 ? null : refused.map(({ tool, decision }) => refusalText(tool, decision.reply)).join('\n\n'),
    summary: { decisions: judged.map(summaryOf) },
  };
}

export function summaryOf({ proposed, tool, decision: { reply } }: JudgedCall): DecisionSummary {
  const { approval } = reply;
  return {
    tool,
    tool_call_id: proposed.id,
    verdict: reply.verdict,
    reason_code: reply.reason_code,
    decision_id: reply.decision_id,
    receipt_id: reply.receipt_id,
    ...(approval ? { ...approval, name: proposed.name, arguments: proposed.argumentsText } : {}),
  };
}

/** The longest header. Clients abort an answer with larger headers, although it is already paid for. */
const headerBytesMax = 4_096;
const headerMore = '...';

/**
 * X-Gov-Tool-Calls: `tool;verdict;reason_code;receipt_id`, comma-separated, with `...` for omitted entries. Names are
 * percent-encoded, since a model chose them.
 */
export function toolCallsHeader(decisions: readonly DecisionSummary[]): string | null {
  if (decisions.length === 0) return null;
  let header = '';
  for (const decision of decisions) {
    const longer = header === '' ? headerEntry(decision) : `${header}, ${headerEntry(decision)}`;
    // An entry is ASCII, so its length equals its bytes.
    if (longer.length > headerBytesMax) return header === '' ? headerMore : `${header}, ${headerMore}`;
    header = longer;
  }
  return header;
}

function headerEntry({ tool, verdict, reason_code, receipt_id }: DecisionSummary): string {
  return `${encodeURIComponent(tool)};${verdict};${reason_code};${receipt_id}`;
}
