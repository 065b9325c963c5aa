import { randomBytes } from 'node:crypto';

/** Returns 256 random bits, which the owner of another domain cannot guess. */
export function newChallenge(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the TXT record that proves the ownership of a domain. */
export function challengeRecord({ domain, challenge }: { domain: string; challenge: string }) {
  return { name: `_countersign-challenge.${domain}`, value: `countersign-verification=${challenge}` };
}
