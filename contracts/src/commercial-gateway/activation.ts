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
    'Activate a licence for the organisation that it names. It is verified without network. It replaces the current licence, and the same ' +
    'licence changes nothing more. A refusal states the reason in details.reason.',
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
    /** The licence applies until then: the end of its grace. */
    ends_at: Instant,
    entitlements: Entitlements,
  }),
  errors: ['ALREADY_EXISTS'],
});

export const beginTrial = defineRoute({
  operation: 'begin-trial',
  summary:
    'Begin the trial of 14 days, once per organisation and registrable domain. Nothing is deleted at its end: the plan before applies again.',
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
    /** The registrable domains of the verified ones. They have used their trial now. */
    domains: z.array(z.string()),
    entitlements: Entitlements,
  }),
  errors: ['NOT_FOUND', 'ALREADY_EXISTS', 'ILLEGAL_TRANSITION', 'GATE_NOT_PASSED'],
});
