import type { Entitlements } from '@countersign/contracts/commercial-gateway';

type SsoSettings = {
  readonly ssoRequired: boolean;
  readonly connectionId: string | null;
  readonly verifiedDomains: readonly string[];
};

/** The state at the control plane, which signs people in. */
export type SsoReadiness = {
  /** The domains whose people the connection can sign in. `null` when the connection does not exist. */
  readonly linkDomains: readonly string[] | null;
  readonly adminHasPasskey: boolean;
};

/** The name of each requirement in error messages. */
const requirements = {
  sso_capability: 'the capability sso of the plan',
  oidc_connection: 'an OIDC connection that exists',
  verified_domain: 'a verified domain',
  connection_for_every_domain: 'a connection that signs in people of every verified domain',
  break_glass_passkey: 'a passkey with which the administrator has signed in',
} as const;

type Requirement = keyof typeof requirements;

export function requirementsText(missing: readonly Requirement[]): string {
  return missing.map((requirement) => requirements[requirement]).join(', and ');
}

type Current = {
  wasRequired: boolean;
  capabilities: Entitlements['capabilities'];
  /** `null` when no connection is chosen. */
  readiness: SsoReadiness | null;
};

/**
 * Returns the requirements of `sso_required` that are not met. Without them, people would be locked out. Keeping single
 * sign-on needs neither the capability nor the passkey, so losing one of them does not block other changes.
 */
export function missingForSso(
  { ssoRequired, connectionId, verifiedDomains }: SsoSettings,
  { wasRequired, capabilities, readiness }: Current,
): Requirement[] {
  if (!ssoRequired) return [];
  const linkDomains = readiness?.linkDomains ?? null;
  const missing: Requirement[] = [];
  if (!wasRequired && !capabilities.includes('sso')) missing.push('sso_capability');
  if (connectionId === null || linkDomains === null) missing.push('oidc_connection');
  else if (!verifiedDomains.every((domain) => linkDomains.includes(domain)))
    missing.push('connection_for_every_domain');
  if (verifiedDomains.length === 0) missing.push('verified_domain');
  if (!wasRequired && readiness?.adminHasPasskey === false) missing.push('break_glass_passkey');
  return missing;
}
