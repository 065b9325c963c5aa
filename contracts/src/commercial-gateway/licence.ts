import { z } from 'zod';
import { OrgId } from '../governance-kernel/tenants.ts';
import { BillingPlanId, PlanCapabilities, PlanLimits, PlanVersionNumber } from './plan-terms.ts';

export const licenceTerms = {
  type: 'countersign-licence+jwt',
  issuer: 'countersign-licensing',
  /** The grace period after `exp`, so that a late renewal stops no work. */
  graceDays: 14,
} as const;

/** A licence as text. The longest one, with every limit and capability, has less than 2 KiB. */
export const LicenceText = z.string().min(1).max(8_192);

export const LicenceId = z.string().regex(/^lic_[0-9A-HJKMNP-TV-Z]{26}$/, 'must look like lic_<ULID>');

export const InstallationId = z.string().regex(/^[A-Za-z0-9._:-]{1,128}$/, 'may hold letters, digits and . _ : -');

export const LicenceHeader = z.strictObject({
  alg: z.literal('EdDSA'),
  typ: z.literal(licenceTerms.type),
  kid: z.string().min(1).max(128),
});
export type LicenceHeader = z.infer<typeof LicenceHeader>;

/** 9999-12-31T23:59:59Z, the last second that has an instant. */
const secondsMax = 253_402_300_799;
const Seconds = z.int().min(0).max(secondsMax);

export const LicenceClaims = z
  .strictObject({
    iss: z.literal(licenceTerms.issuer),
    /** The installation for which the licence is valid. */
    aud: InstallationId,
    jti: LicenceId,
    org: OrgId,
    plan_id: BillingPlanId,
    plan_version: PlanVersionNumber,
    limits: PlanLimits,
    capabilities: PlanCapabilities,
    iat: Seconds,
    /** The end of the grace period must also be a valid instant. */
    exp: Seconds.max(secondsMax - licenceTerms.graceDays * 86_400),
  })
  .refine(({ iat, exp }) => exp > iat, { path: ['exp'], message: 'must be after iat' });
export type LicenceClaims = z.infer<typeof LicenceClaims>;

/**
 * Why a licence is not accepted, in the order of the checks. A licence with a reason below `SIGNATURE` was signed by a
 * pinned key.
 */
export const LicenceFault = z.enum([
  'MALFORMED',
  'ALGORITHM',
  'UNKNOWN_KEY',
  'SIGNATURE',
  'CLAIMS',
  'OTHER_INSTALLATION',
  'OTHER_ORGANISATION',
  'ISSUED_IN_FUTURE',
]);
export type LicenceFault = z.infer<typeof LicenceFault>;
