import { z } from 'zod';
import { Instant, PrincipalId, ReasonCode, ToolName, Verdict } from '@countersign/contracts';
import { ReceiptKind } from '@countersign/contracts/governance-kernel';

const textAs = (schema: z.ZodType) =>
  z
    .string()
    .refine((text) => schema.safeParse(text).success)
    .optional()
    .catch(undefined);

/** A view of the activity, as an address holds it. */
export const ActivitySearch = z.object({
  verdict: Verdict.optional().catch(undefined),
  kind: ReceiptKind.optional().catch(undefined),
  reason: ReasonCode.optional().catch(undefined),
  tool: textAs(ToolName),
  agent: textAs(PrincipalId),
  /** Inclusive. */
  from: textAs(Instant),
  /** Exclusive. */
  to: textAs(Instant),
});
export type ActivitySearch = z.infer<typeof ActivitySearch>;
