import { z } from 'zod';
import { ReasonCode } from '../reason-codes.ts';
import {
  ActionName,
  Digest,
  Instant,
  PrincipalId,
  ReceiptId,
  SessionId,
  TenantId,
  ToolName,
  Verdict,
} from '../scalars.ts';

/** The most decisions that a report reads. */
export const whatIfDecisionsMax = 20_000;
/** The most examples in a cell of the matrix. The newest are listed. */
export const examplesMax = 20;

/** The verdict of a draft on a decision. `UNREPLAYABLE`: the record lacks data that the draft reads. */
export const VerdictAgain = z.enum([...Verdict.options, 'UNREPLAYABLE']);
export type VerdictAgain = z.infer<typeof VerdictAgain>;

const Count = z.int().min(0);
const Row = z.strictObject({ ALLOW: Count, DENY: Count, ESCALATE: Count, UNREPLAYABLE: Count });

/** The query of a report: the decisions and the draft. */
export const WhatIfQuestion = z.strictObject({
  tenant_id: TenantId,
  policy_hash: Digest,
  /** The report covers receipts of the tenant below this position in the log, and begins with the newest of them. */
  tree_size: Count,
  /** The start of the period, inclusive. */
  from: Instant.nullable(),
  /** The end of the period, exclusive. */
  to: Instant.nullable(),
  limit: z.int().min(1).max(whatIfDecisionsMax),
});
export type WhatIfQuestion = z.infer<typeof WhatIfQuestion>;

/** One decision, as sealed and as evaluated with the draft. */
export const Changed = z.strictObject({
  receipt_id: ReceiptId,
  session_id: SessionId,
  principal_id: PrincipalId,
  action: ActionName,
  tool: ToolName.nullable(),
  before: Verdict,
  reason_before: ReasonCode,
  after: VerdictAgain,
  /** The reason code of the draft. `null` when the draft has no verdict. */
  reason_after: ReasonCode.nullable(),
  /** Rules of the draft that apply. */
  rules: z.array(z.string()),
  /** The members that the draft reads and the record lacks. */
  missing: z.array(z.string()),
});
export type Changed = z.infer<typeof Changed>;

/** The number of decisions by verdict: first by the sealed verdict, then by the verdict of the draft. */
export const VerdictMatrix = z.strictObject({ ALLOW: Row, DENY: Row, ESCALATE: Row });

const Share = {
  decisions: Count,
  /** How many decisions have another verdict under the draft than the sealed one. */
  changed: Count,
  widened: Count,
  unreplayable: Count,
};

/**
 * The verdicts of a draft on sealed decisions. Each decision is verified and evaluated from its record. `report_hash`
 * is the SHA-256 of the canonical JSON (RFC 8785) of all other members. The same draft, query and receipts give the
 * same report.
 */
export const WhatIfReport = z.strictObject({
  type: z.literal('countersign.what-if.v1'),
  question: WhatIfQuestion,
  decisions: Count,
  /** Receipts of the tenant that were read, including decisions. */
  receipts: Count,
  /** Whether all requested decisions are in the report. */
  is_whole: z.boolean(),
  /**
   * Receipts, records and chain links that do not verify, with the first of them. Their decisions are not evaluated.
   */
  unverifiable: z.strictObject({
    count: Count,
    first: z.array(z.strictObject({ receipt_id: ReceiptId.nullable(), code: z.string() })).max(examplesMax),
  }),
  matrix: VerdictMatrix,
  /** Every decision that becomes more permissive, newest first. */
  widened: z.array(Changed),
  /** The newest examples of each cell that is not empty. */
  examples: z.array(
    z.strictObject({ before: Verdict, after: VerdictAgain, decisions: z.array(Changed).max(examplesMax) }),
  ),
  /** The fields that records lack, each with the number of decisions that could not be evaluated without it. */
  missing: z.array(z.strictObject({ field: z.string(), decisions: Count })),
  agents: z.array(z.strictObject({ principal_id: PrincipalId, ...Share })),
  tools: z.array(z.strictObject({ tool: ToolName.nullable(), action: ActionName, ...Share })),
  report_hash: Digest,
});
export type WhatIfReport = z.infer<typeof WhatIfReport>;
