import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { DecisionId, Digest, Instant, TenantId } from '../scalars.ts';
import { Signature } from './receipt.ts';

const ActivationTerms = {
  decision_id: DecisionId,
  policy_hash: Digest,
  /** The next epoch of the tenant's own bundles. */
  epoch: z.int().min(1).max(2_147_483_647),
  /** The hash of the report on which the decision is based. */
  report_hash: Digest,
};

/** The values that activate a bundle: the members `epoch`, `confirmed_at` and `signature` of its activation. */
export const ActivationSignature = z.strictObject({
  tenant_id: TenantId,
  ...ActivationTerms,
  confirmed_at: Instant,
  signature: Signature,
});
export type ActivationSignature = z.infer<typeof ActivationSignature>;

export const confirmActivation = defineRoute({
  operation: 'confirm-activation',
  summary:
    "Sign and seal again that the decision's bundle is active, so that it does not become stale. After a " +
    'confirmation in the last minute, the current statement is returned.',
  method: 'POST',
  path: '/internal/policy/confirmations/{tenant}',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: z.strictObject({ tenant: TenantId }),
  body: z.strictObject({ decision_id: DecisionId }),
  reply: ActivationSignature,
  errors: ['NOT_FOUND', 'DECISION_MISMATCH', 'CEILING_MISSING', 'ILLEGAL_TRANSITION', 'RECEIPT_STORE_UNAVAILABLE'],
});

export const createActivationSignature = defineRoute({
  operation: 'create-activation-signature',
  summary:
    'Sign one policy activation for an allowed `policy.change` decision of the last ten minutes. Each decision ' +
    'signs once. A repeated request returns the same signature.',
  method: 'POST',
  path: '/internal/policy/signatures/{tenant}',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: z.strictObject({ tenant: TenantId }),
  body: z.strictObject(ActivationTerms),
  reply: ActivationSignature,
  errors: [
    'NOT_FOUND',
    'DECISION_REFUSED',
    'DECISION_MISMATCH',
    'DECISION_EXPIRED',
    'DECISION_USED',
    'ILLEGAL_TRANSITION',
    'RECEIPT_STORE_UNAVAILABLE',
  ],
});
