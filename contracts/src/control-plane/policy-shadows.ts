import { z } from 'zod';
import { bundleBytesMax } from '../governance-kernel/policy-bundle.ts';
import { LaneName } from '../governance-kernel/shadow-lanes.ts';
import { defineRoute } from '../route.ts';
import { Digest, Instant, UserId } from '../scalars.ts';
import { draftBodyBytesMax } from './policy-draft.ts';
import { OfWorkspace } from './workspace-path.ts';

const Count = z.int().min(0);

/** Decisions of one hour that were also evaluated with a draft, counted from their records. */
export const ShadowHour = z.strictObject({
  hour: Instant,
  decisions: Count,
  /** The number of decisions on which the draft gives another verdict. */
  diverged: Count,
  /** The number of decisions on which the draft is more permissive. */
  widened: Count,
  /** The number of decisions on which the draft produced no verdict. */
  faults: Count,
});
export type ShadowHour = z.infer<typeof ShadowHour>;

/** A draft that is evaluated beside the active policy. It changes no verdict. */
export const PolicyShadow = z.strictObject({
  lane: LaneName,
  policy_hash: Digest,
  /**
   * `unconfirmed`: the kernel has not confirmed the draft yet. `ending`: the kernel has not confirmed its removal yet.
   * Both complete automatically.
   */
  state: z.enum(['unconfirmed', 'standing', 'ending']),
  set_by: UserId,
  set_at: Instant,
  /** Hours of the last day, the newest first; an hour without a decision is absent. */
  hours: z.array(ShadowHour),
});
export type PolicyShadow = z.infer<typeof PolicyShadow>;

const OfLane = OfWorkspace.extend({ lane: z.string().min(1).max(128) });

export const putPolicyShadow = defineRoute({
  operation: 'put-policy-shadow',
  summary:
    'Evaluate a bundle beside the active policy, in one of three lanes. Its verdicts are stored in the records ' +
    'and have no effect.',
  method: 'PUT',
  path: '/api/v1/workspaces/{id}/policy/shadows/{lane}',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'repeatable' },
  leastRole: 'partner',
  right: 'policy.shadow',
  params: OfLane,
  body: z.strictObject({ text: z.string().min(1).max(bundleBytesMax) }),
  bodyBytesMax: draftBodyBytesMax,
  reply: PolicyShadow,
  errors: ['INVALID_REQUEST', 'ILLEGAL_TRANSITION', 'LIMIT_REACHED', 'GOVERNANCE_UNAVAILABLE'],
});

export const deletePolicyShadow = defineRoute({
  operation: 'delete-policy-shadow',
  summary: 'Remove the bundle from a shadow lane. Returns the lane as it was before.',
  method: 'DELETE',
  path: '/api/v1/workspaces/{id}/policy/shadows/{lane}',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'repeatable' },
  leastRole: 'partner',
  right: 'policy.shadow',
  params: OfLane,
  reply: PolicyShadow,
  errors: ['NOT_FOUND'],
});
