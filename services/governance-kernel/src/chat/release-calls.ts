import type { ApprovalId, Instant, ReasonCode } from '@countersign/contracts';
import { refusalText } from '../mcp/refusal.ts';
import { isAllowed, type JudgedCall } from './judge-calls.ts';
import type { JsonObject } from './passive-members.ts';

/** The calls of a choice that reach the caller. */
export type Release = {
  /** Released members of `tool_calls`, in their order. */
  allowed: JsonObject[];
  /** Set when some call is withheld, and so are the tokens that spell it: which and why, for a person or a model. */
  withheld: string | null;
  /** The extension member `countersign`: what was decided. SDKs ignore members they do not know. */
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
   * Only for a call that waits for an approval: a caller that parks it can repeat exactly this call, under the name that
   * the model wrote. Inert text, not a tool call.
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

/** A header holds a summary, not an archive: clients end an answer whose headers are too large, and it is paid for by then. */
const headerBytesMax = 4_096;
const headerMore = '...';

/**
 * X-Gov-Tool-Calls: `tool;verdict;reason_code;receipt_id`, comma-separated, with `...` for what has no room. Names are
 * percent-encoded: a model chose them.
 */
export function toolCallsHeader(decisions: readonly DecisionSummary[]): string | null {
  if (decisions.length === 0) return null;
  let header = '';
  for (const decision of decisions) {
    const longer = header === '' ? headerEntry(decision) : `${header}, ${headerEntry(decision)}`;
    // An entry is ASCII: its length is its bytes.
    if (longer.length > headerBytesMax) return header === '' ? headerMore : `${header}, ${headerMore}`;
    header = longer;
  }
  return header;
}

function headerEntry({ tool, verdict, reason_code, receipt_id }: DecisionSummary): string {
  return `${encodeURIComponent(tool)};${verdict};${reason_code};${receipt_id}`;
}
