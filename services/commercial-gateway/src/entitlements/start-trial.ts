import { getDomain } from 'tldts';

/** Trials that ever began; they are kept after their end. */
type KnownTrial = { readonly org: string; readonly domains: readonly string[] };

type TrialRequest = {
  readonly org: string;
  /** Domains whose ownership the organisation proved. */
  readonly verifiedDomains: readonly string[];
};

type TrialVerdict =
  | { readonly kind: 'started'; readonly domains: readonly string[]; readonly startsAt: Date; readonly endsAt: Date }
  | { readonly kind: 'refused'; readonly reason: 'DOMAIN_NOT_VERIFIED' | 'TRIAL_USED' };

const trialMs = 14 * 86_400_000;

/**
 * A trial of 14 days, once per organisation and registrable domain. A new organisation of the same company has none, and neither has one that
 * verifies another subdomain. A domain that is a public suffix itself begins no trial.
 */
export function startTrial(
  { org, verifiedDomains }: TrialRequest,
  known: readonly KnownTrial[],
  now: Date,
): TrialVerdict {
  const domains = [...new Set(verifiedDomains.flatMap(registrableDomain))];
  if (domains.length === 0) return { kind: 'refused', reason: 'DOMAIN_NOT_VERIFIED' };
  const isUsed = known.some(
    (trial) => trial.org === org || trial.domains.flatMap(registrableDomain).some((domain) => domains.includes(domain)),
  );
  if (isUsed) return { kind: 'refused', reason: 'TRIAL_USED' };
  return { kind: 'started', domains, startsAt: now, endsAt: new Date(now.getTime() + trialMs) };
}

/**
 * The domain below a public suffix, as an array of at most one. Private suffixes such as `github.io` count as ordinary domains: names below
 * them cost nothing, so each of them would begin a trial.
 */
export function registrableDomain(domain: string): string[] {
  const found = getDomain(domain, { allowPrivateDomains: false });
  return found === null ? [] : [found];
}
