import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { Digest, Instant, PrincipalId, TenantId } from '../scalars.ts';
import { PolicyBundle } from './policy-bundle.ts';
import { bundleBody } from './policy.ts';

/** The most drafts that are judged beside the active policy of a tenant. */
export const shadowLanesMax = 3;

export const LaneName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,31}$/)
  .brand<'LaneName'>();
export type LaneName = z.infer<typeof LaneName>;

/** A draft that is judged beside the active policy. Its verdicts are stored in the records, and change nothing else. */
export const ShadowLane = z.strictObject({
  tenant_id: TenantId,
  lane: LaneName,
  policy_hash: Digest,
  set_by: PrincipalId,
  since: Instant,
});
export type ShadowLane = z.infer<typeof ShadowLane>;

const LaneParams = z.strictObject({ tenant: TenantId, lane: LaneName });

export const putShadowLane = defineRoute({
  operation: 'put-shadow-lane',
  summary:
    'Judge a draft beside the active policy of a tenant, sealed: what it says of each call stands in `shadow` of the record, and it ' +
    'changes no verdict, budget, approval or dispatch. Another draft replaces the one of the lane; the same one stands. A tenant has ' +
    'three lanes at most.',
  method: 'PUT',
  path: '/internal/policy/shadows/{tenant}/{lane}',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: LaneParams,
  body: z.strictObject({
    bundle: PolicyBundle,
    /** Who set it, as the caller knows. */
    set_by: PrincipalId,
  }),
  ...bundleBody,
  reply: ShadowLane,
  errors: ['INVALID_REQUEST', 'ILLEGAL_TRANSITION', 'RECEIPT_STORE_UNAVAILABLE'],
});

export const deleteShadowLane = defineRoute({
  operation: 'delete-shadow-lane',
  summary: 'Judge the draft of a lane no longer, sealed. Answers with the lane that was.',
  method: 'DELETE',
  path: '/internal/policy/shadows/{tenant}/{lane}',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: LaneParams,
  reply: ShadowLane,
  errors: ['NOT_FOUND', 'RECEIPT_STORE_UNAVAILABLE'],
});
