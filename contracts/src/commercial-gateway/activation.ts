import { z } from 'zod';
import { OrgId } from '../governance-kernel/tenants.ts';
import { defineRoute } from '../route.ts';
import { Instant } from '../scalars.ts';
import { Entitlements } from './entitlements.ts';
import { LicenceId, LicenceText } from './licence.ts';
import { BillingPlanId } from './plan-terms.ts';

export const activateLicence = defineRoute({
  operation: 'activate-licence',
  summary:
    'Activate a licence for the organisation that it names. Verification needs no network. The licence replaces ' +
    'the current one. A rejection states its reason in `details.reason`.',
  method: 'POST',
  path: '/api/commercial/activation',
  auth: 'commercial_admin',
  forward: {},
  idempotency: { exempt: 'repeatable' },
  body: z.strictObject({ licence: LicenceText }),
  reply: z.strictObject({
    licence_id: LicenceId,
    org_id: OrgId,
    expires_at: Instant,
    /** The end of the licence, its grace period included. */
    ends_at: Instant,
    entitlements: Entitlements,
  }),
  errors: ['ALREADY_EXISTS'],
});

export const beginTrial = defineRoute({
  operation: 'begin-trial',
  summary:
    'Start the 14-day trial, once per organisation and registrable domain. When it ends, nothing is deleted and ' +
    'the previous plan applies again.',
  method: 'POST',
  path: '/api/commercial/trial',
  auth: 'session',
  needsPresence: true,
  forward: {},
  idempotency: { exempt: 'single_use' },
  status: 201,
  body: z.strictObject({ org_id: OrgId }),
  reply: z.strictObject({
    org_id: OrgId,
    plan_id: BillingPlanId,
    starts_at: Instant,
    ends_at: Instant,
    /**
     * The registrable domains of the verified domains of the organisation. Each registrable domain has now used its
     * only trial.
     */
    domains: z.array(z.string()),
    entitlements: Entitlements,
  }),
  errors: ['NOT_FOUND', 'ALREADY_EXISTS', 'ILLEGAL_TRANSITION', 'GATE_NOT_PASSED'],
});
