import type { Entitlements } from '@countersign/contracts/commercial-gateway';

type SsoSettings = {
  readonly ssoRequired: boolean;
  readonly connectionId: string | null;
  readonly verifiedDomains: number;
};

type Requirement = 'sso_capability' | 'oidc_connection' | 'verified_domain';

/**
 * The missing parts of required single sign-on. The capability is needed to turn it on, and not to keep it: the end of
 * a licence must not block other changes.
 */
export function missingForSso(
  { ssoRequired, connectionId, verifiedDomains }: SsoSettings,
  { wasRequired, capabilities }: { wasRequired: boolean; capabilities: Entitlements['capabilities'] },
): Requirement[] {
  if (!ssoRequired) return [];
  const missing: Requirement[] = [];
  if (!wasRequired && !capabilities.includes('sso')) missing.push('sso_capability');
  if (connectionId === null) missing.push('oidc_connection');
  if (verifiedDomains === 0) missing.push('verified_domain');
  return missing;
}
