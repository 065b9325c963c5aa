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

/** A trial of 14 days, once per organisation and verified domain. A new organisation of the same company has none. */
export function startTrial(
  { org, verifiedDomains }: TrialRequest,
  known: readonly KnownTrial[],
  now: Date,
): TrialVerdict {
  const domains = [...new Set(verifiedDomains.map(comparable))];
  if (domains.length === 0) return { kind: 'refused', reason: 'DOMAIN_NOT_VERIFIED' };
  const isUsed = known.some(
    (trial) => trial.org === org || trial.domains.some((domain) => domains.includes(comparable(domain))),
  );
  if (isUsed) return { kind: 'refused', reason: 'TRIAL_USED' };
  return { kind: 'started', domains, startsAt: now, endsAt: new Date(now.getTime() + trialMs) };
}

/** Domain names have no case, and a dot at their end changes nothing. */
function comparable(domain: string): string {
  return domain.toLowerCase().replace(/\.$/, '');
}
