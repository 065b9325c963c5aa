import { z } from 'zod';
import { bundleBytesMax } from '../governance-kernel/policy-bundle.ts';
import { Digest, Instant, UserId, WhatIfId } from '../scalars.ts';

/**
 * The largest body with a draft. The text can be twice as long when it is a JSON string. The rest is for the other
 * members.
 */
export const draftBodyBytesMax = 2 * bundleBytesMax + 4_096;

export const PolicyDraft = z.strictObject({
  workspace_id: z.string(),
  /** The ETag: it rises with each edit. */
  version: z.int().min(1),
  state: z.enum(['editing', 'compiled', 'reported', 'activated']),
  /** A bundle `countersign/policy.v1` in JSON or YAML. It may be incomplete. */
  text: z.string(),
  /** The hash of the draft after a compilation without errors. `null` until then. */
  policy_hash: Digest.nullable(),
  report_id: WhatIfId.nullable(),
  updated_by: UserId,
  updated_at: Instant,
});
export type PolicyDraft = z.infer<typeof PolicyDraft>;
