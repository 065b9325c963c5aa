import { AppError } from '@countersign/contracts';
import type { Entitlements, LicenceClaims, LicenceFault } from '@countersign/contracts/commercial-gateway';
import { inBillingAccount, type BillingCaller, type BillingDeps } from '../billing-deps.ts';
import { announceEntitlements } from '../entitlements/announce-entitlements.ts';
import type { EntitlementTerms } from '../entitlements/entitlement-terms.ts';
import { entitlementsOf } from '../entitlements/entitlements-of.ts';
import { verifyLicence } from '../licence/verify-licence.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { findCurrentLicence, replaceLicence } from '../store/licences.ts';
import { findOrg } from '../store/orgs.ts';

type Activated = { claims: LicenceClaims; entitlements: Entitlements };

/**
 * Makes a licence the current licence of the organisation that it names. Throws INVALID_REQUEST with the reason when
 * this installation cannot use the licence, and ALREADY_EXISTS when its ID was activated before. Activating the current
 * licence again changes nothing.
 */
export async function activateLicence(
  deps: BillingDeps,
  text: string,
  caller: Omit<BillingCaller, 'orgId'>,
): Promise<Activated> {
  const claims = await applicableClaims(deps.entitlementTerms, text, deps.now());
  return inBillingAccount(deps, claims.org, async (tx, at) => {
    if ((await findOrg(tx, claims.org)) === null) throw refusal('OTHER_ORGANISATION');
    const current = await findCurrentLicence(tx, claims.org);
    if (current?.text === text) return { claims, entitlements: await currentEntitlements(tx, deps, { claims, at }) };
    const activation = { activatedBy: caller.actor, activatedAt: at };
    if (!(await replaceLicence(tx, { id: claims.jti, orgId: claims.org, text, ...activation })))
      throw new AppError('ALREADY_EXISTS', `The licence ${claims.jti} was activated before. Request a new licence`, {
        param: 'licence',
      });
    const entitlements = await announceEntitlements(tx, deps, { orgId: claims.org, now: at, cause: 'licence' });
    await auditActivation(tx, { claims, replaced: current?.id ?? null, caller, at });
    return { claims, entitlements };
  });
}

function currentEntitlements(
  tx: Tx,
  { entitlementTerms }: BillingDeps,
  { claims, at }: { claims: LicenceClaims; at: Date },
): Promise<Entitlements> {
  return entitlementsOf(tx, entitlementTerms, { orgId: claims.org, now: at });
}

type Activation = {
  claims: LicenceClaims;
  replaced: string | null;
  caller: Omit<BillingCaller, 'orgId'>;
  at: Date;
};

async function auditActivation(tx: Tx, { claims, replaced, caller, at }: Activation): Promise<void> {
  const { jti, org, plan_id, plan_version, exp } = claims;
  const details = { plan_id, plan_version, exp, replaced };
  const act = { scope: org, action: 'licence.activated', ...caller, subject: jti, details } as const;
  await recordAudit(tx, { ...act, verdict: 'allow' }, at);
}

async function applicableClaims(
  { licenceKeys: keys, installation }: EntitlementTerms,
  text: string,
  now: Date,
): Promise<LicenceClaims> {
  const verdict = await verifyLicence(text, { keys, installation, org: null, now });
  if (verdict.kind === 'invalid') throw refusal(verdict.reason);
  if (verdict.kind === 'expired') throw refusal('EXPIRED');
  return verdict.claims;
}

const explanations: Readonly<Record<LicenceFault | 'EXPIRED', string>> = {
  MALFORMED: 'licence is not the text of a licence. Send the file that you received, unchanged',
  ALGORITHM: 'licence is not signed with EdDSA. Request a new licence',
  UNKNOWN_KEY:
    'licence names a key that is not configured here. Add the public key of its issuer to the commercial gateway',
  SIGNATURE: 'licence was altered: its signature does not match. Send the file that you received, unchanged',
  CLAIMS:
    'licence contains terms that this version does not know. Update the commercial gateway, or request a new licence',
  OTHER_INSTALLATION:
    'licence is for another installation. Request one for the installation id of this commercial gateway',
  OTHER_ORGANISATION:
    'licence is for an organisation that this installation does not have. Request one for your organisation',
  ISSUED_IN_FUTURE: 'licence was issued later than the clock of this machine shows. Set the clock',
  EXPIRED: 'licence has expired, and its grace of 14 days has ended. Request a new licence',
};

function refusal(reason: LicenceFault | 'EXPIRED'): AppError {
  return new AppError('INVALID_REQUEST', explanations[reason], { param: 'licence', details: { reason } });
}
