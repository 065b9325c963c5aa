import { z } from 'zod';
import { Instant, PrincipalId, ReasonCode, ToolName, Verdict } from '@countersign/contracts';
import { ReceiptKind } from '@countersign/contracts/governance-kernel';

const textAs = (schema: z.ZodType) =>
  z
    .string()
    .refine((text) => schema.safeParse(text).success)
    .optional()
    .catch(undefined);

/** The filters of a view, as its address contains them. */
export const ActivitySearch = z.object({
  verdict: Verdict.optional().catch(undefined),
  kind: ReceiptKind.optional().catch(undefined),
  reason: ReasonCode.optional().catch(undefined),
  tool: textAs(ToolName),
  agent: textAs(PrincipalId),
  /** The start of the period, inclusive. */
  from: textAs(Instant),
  /** The end of the period, exclusive. */
  to: textAs(Instant),
});
export type ActivitySearch = z.infer<typeof ActivitySearch>;
