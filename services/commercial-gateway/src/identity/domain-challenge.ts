import { randomBytes } from 'node:crypto';

/** 256 random bits: the owner of another domain cannot guess the record. */
export function newChallenge(): string {
  return randomBytes(32).toString('base64url');
}

/** The TXT record that proves the ownership of a domain. */
export function challengeRecord({ domain, challenge }: { domain: string; challenge: string }) {
  return { name: `_countersign-challenge.${domain}`, value: `countersign-verification=${challenge}` };
}
