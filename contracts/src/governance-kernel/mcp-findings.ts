import { z } from 'zod';

export const FindingKind = z.enum([
  'hidden_text',
  'model_instruction',
  'look_alike',
  'shadowing',
  'encoded_payload',
  'embedded_secret',
  'broad_schema',
  'understated_effect',
  'dangerous_combination',
  'drift',
]);
export type FindingKind = z.infer<typeof FindingKind>;

/** One finding of a scan. `excerpt` is escaped, so that it shows what a reader would not see. */
export const Finding = z.strictObject({
  kind: FindingKind,
  severity: z.enum(['low', 'medium', 'high']),
  /** The rule that matched. */
  rule: z.string(),
  /** The name that the server uses. `null` when the finding is about the server. */
  tool: z.string().nullable(),
  /** The member of the definition, by names from its root. */
  member: z.string().nullable(),
  detail: z.string(),
  excerpt: z.string().max(200).nullable(),
});
export type Finding = z.infer<typeof Finding>;
