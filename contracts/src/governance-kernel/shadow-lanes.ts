import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { Digest, Instant, PrincipalId, TenantId } from '../scalars.ts';
import { PolicyBundle } from './policy-bundle.ts';
import { bundleBody } from './policy.ts';

/** The most drafts that are evaluated beside the active policy of a tenant. */
export const shadowLanesMax = 3;

export const LaneName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,31}$/)
  .brand<'LaneName'>();
export type LaneName = z.infer<typeof LaneName>;

/**
 * A draft that is evaluated beside the active policy. Its verdicts are stored in the records and have no other effect.
 */
export const ShadowLane = z.strictObject({
  tenant_id: TenantId,
  lane: LaneName,
  policy_hash: Digest,
  set_by: PrincipalId,
  /** The time when the draft was set. */
  since: Instant,
});
export type ShadowLane = z.infer<typeof ShadowLane>;

const LaneParams = z.strictObject({ tenant: TenantId, lane: LaneName });

export const putShadowLane = defineRoute({
  operation: 'put-shadow-lane',
  summary:
    'Evaluate a draft beside the active policy of a tenant, sealed. Its results are stored in `shadow` of each ' +
    "record and have no effect. A new draft replaces the lane's. A tenant has at most three lanes.",
  method: 'PUT',
  path: '/internal/policy/shadows/{tenant}/{lane}',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: LaneParams,
  body: z.strictObject({
    bundle: PolicyBundle,
    /** The principal that set the draft, as stated by the caller. */
    set_by: PrincipalId,
  }),
  ...bundleBody,
  reply: ShadowLane,
  errors: ['INVALID_REQUEST', 'ILLEGAL_TRANSITION', 'RECEIPT_STORE_UNAVAILABLE'],
});

export const deleteShadowLane = defineRoute({
  operation: 'delete-shadow-lane',
  summary: 'Remove the draft from a shadow lane, sealed. Returns the lane as it was before.',
  method: 'DELETE',
  path: '/internal/policy/shadows/{tenant}/{lane}',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: LaneParams,
  reply: ShadowLane,
  errors: ['NOT_FOUND', 'RECEIPT_STORE_UNAVAILABLE'],
});
