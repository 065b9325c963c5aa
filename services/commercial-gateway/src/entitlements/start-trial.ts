import { getDomain } from 'tldts';

/** A trial that an organisation began. Trials are kept after their end. */
type KnownTrial = { readonly org: string; readonly domains: readonly string[] };

type TrialRequest = {
  readonly org: string;
  /** Domains that the organisation verified. */
  readonly verifiedDomains: readonly string[];
};

type TrialVerdict =
  | { readonly kind: 'started'; readonly domains: readonly string[]; readonly startsAt: Date; readonly endsAt: Date }
  | { readonly kind: 'refused'; readonly reason: 'DOMAIN_NOT_VERIFIED' | 'TRIAL_USED' };

const trialMs = 14 * 86_400_000;

/**
 * Decides whether a trial of 14 days may begin: once per organisation and registrable domain. A second organisation
 * that verifies the same domain, or a subdomain of it, gets no trial. A public suffix begins no trial.
 */
export function startTrial(
  { org, verifiedDomains }: TrialRequest,
  existing: readonly KnownTrial[],
  now: Date,
): TrialVerdict {
  const domains = [...new Set(verifiedDomains.flatMap(registrableDomain))];
  if (domains.length === 0) return { kind: 'refused', reason: 'DOMAIN_NOT_VERIFIED' };
  const isUsed = existing.some(
    (trial) => trial.org === org || trial.domains.flatMap(registrableDomain).some((domain) => domains.includes(domain)),
  );
  if (isUsed) return { kind: 'refused', reason: 'TRIAL_USED' };
  return { kind: 'started', domains, startsAt: now, endsAt: new Date(now.getTime() + trialMs) };
}

/**
 * Returns the registrable domain as an array of at most one element. Private suffixes such as `github.io` count as
 * ordinary domains. Otherwise each name below them, which costs nothing, could begin a trial.
 */
export function registrableDomain(domain: string): string[] {
  const found = getDomain(domain, { allowPrivateDomains: false });
  return found === null ? [] : [found];
}
