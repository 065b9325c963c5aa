import { z } from 'zod';
import { bundleBytesMax } from '../governance-kernel/policy-bundle.ts';
import { LaneName } from '../governance-kernel/shadow-lanes.ts';
import { defineRoute } from '../route.ts';
import { Digest, Instant, UserId } from '../scalars.ts';
import { draftBodyBytesMax } from './policy-draft.ts';
import { OfWorkspace } from './workspace-path.ts';

const Count = z.int().min(0);

/** Decisions of one hour that a draft was asked about, as their records tell it. */
export const ShadowHour = z.strictObject({
  hour: Instant,
  decisions: Count,
  /** The draft gives another verdict. */
  diverged: Count,
  /** The number of those that are more permissive. */
  widened: Count,
  /** The draft gave no verdict. */
  faults: Count,
});
export type ShadowHour = z.infer<typeof ShadowHour>;

/** A draft that is judged beside the policy in force; it changes no verdict. */
export const PolicyShadow = z.strictObject({
  lane: LaneName,
  policy_hash: Digest,
  /** `unconfirmed`: the kernel does not judge it yet. `ending`: it may still. Either is brought about without further asking. */
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
    'Have the kernel judge a bundle beside the policy in force. Its verdicts are stored in the records and change no verdict. There are three lanes.',
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
  summary: 'Have the bundle of a lane judged no longer. Answers with the lane as it was.',
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
