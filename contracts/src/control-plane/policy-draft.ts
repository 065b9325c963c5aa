import { z } from 'zod';
import { bundleBytesMax } from '../governance-kernel/policy-bundle.ts';
import { Digest, Instant, UserId, WhatIfId } from '../scalars.ts';

/** The text in JSON's quotes, and the members around it. */
export const draftBodyBytesMax = 2 * bundleBytesMax + 4_096;

export const PolicyDraft = z.strictObject({
  workspace_id: z.string(),
  /** The ETag: it rises with each edit. */
  version: z.int().min(1),
  state: z.enum(['editing', 'compiled', 'reported', 'activated']),
  /** A bundle `countersign/policy.v1`, in JSON or YAML, or what shall become one. */
  text: z.string(),
  /** Since its last compile without errors. */
  policy_hash: Digest.nullable(),
  report_id: WhatIfId.nullable(),
  updated_by: UserId,
  updated_at: Instant,
});
export type PolicyDraft = z.infer<typeof PolicyDraft>;
