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
/** The most examples, the newest, that a cell of the matrix shows. */
export const examplesMax = 20;

/** The verdict of a draft on a decision. `UNREPLAYABLE`: the record does not hold what the draft would have read. */
export const VerdictAgain = z.enum([...Verdict.options, 'UNREPLAYABLE']);
export type VerdictAgain = z.infer<typeof VerdictAgain>;

const Count = z.int().min(0);
const Row = z.strictObject({ ALLOW: Count, DENY: Count, ESCALATE: Count, UNREPLAYABLE: Count });

/** The question of a report: the decisions and the draft. */
export const WhatIfQuestion = z.strictObject({
  tenant_id: TenantId,
  policy_hash: Digest,
  /** Every receipt of the tenant below this place in the log was to be looked at, from the newest on. */
  tree_size: Count,
  /** Inclusive. */
  from: Instant.nullable(),
  /** Exclusive. */
  to: Instant.nullable(),
  limit: z.int().min(1).max(whatIfDecisionsMax),
});
export type WhatIfQuestion = z.infer<typeof WhatIfQuestion>;

/** One decision as it was sealed, and as the draft makes it. */
export const Changed = z.strictObject({
  receipt_id: ReceiptId,
  session_id: SessionId,
  principal_id: PrincipalId,
  action: ActionName,
  tool: ToolName.nullable(),
  before: Verdict,
  reason_before: ReasonCode,
  after: VerdictAgain,
  /** Null where there is no verdict. */
  reason_after: ReasonCode.nullable(),
  /** Rules of the draft that apply. */
  rules: z.array(z.string()),
  /** The members that the draft reads and the record lacks. */
  missing: z.array(z.string()),
});
export type Changed = z.infer<typeof Changed>;

/** Before, then after. */
export const VerdictMatrix = z.strictObject({ ALLOW: Row, DENY: Row, ESCALATE: Row });

const Share = { decisions: Count, changed: Count, widened: Count, unreplayable: Count };

/**
 * The verdicts that a draft would have given sealed decisions. Each decision is verified and decided again from its
 * record alone. `report_hash` is the SHA-256 of the canonical JSON (RFC 8785) of all other members: the same draft,
 * question and receipts give the same report.
 */
export const WhatIfReport = z.strictObject({
  type: z.literal('countersign.what-if.v1'),
  question: WhatIfQuestion,
  decisions: Count,
  /** Receipts of the tenant that were looked at, decisions among them. */
  receipts: Count,
  /** Nothing older was left: these are all decisions that the question is about. */
  is_whole: z.boolean(),
  /** Receipts or records that do not verify, and links of chains that do not fit; the first of them are named. None of them is decided again. */
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
  /** The missing fields, each with the number of decisions. */
  missing: z.array(z.strictObject({ field: z.string(), decisions: Count })),
  agents: z.array(z.strictObject({ principal_id: PrincipalId, ...Share })),
  tools: z.array(z.strictObject({ tool: ToolName.nullable(), action: ActionName, ...Share })),
  report_hash: Digest,
});
export type WhatIfReport = z.infer<typeof WhatIfReport>;
