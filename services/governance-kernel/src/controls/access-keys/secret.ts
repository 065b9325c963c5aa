import { randomBytes } from 'node:crypto';
import { digestOf, type CryptoProvider } from '@countersign/crypto';
import type { AccessKey } from '@countersign/contracts/governance-kernel';

const prefixes: Record<AccessKey['kind'], string> = { agent: 'agk_', approver: 'apk_' };
const secretBytes = 32;
/** The number of shown characters: enough to tell a person's keys apart, and far too few to guess a key. */
const shownLength = 10;

/** `agk_` or `apk_` and 256 random bits in base64url. */
export function newSecret(kind: AccessKey['kind']): string {
  return prefixes[kind] + randomBytes(secretBytes).toString('base64url');
}

export function isAccessKey(bearer: string): boolean {
  return Object.values(prefixes).some((prefix) => bearer.startsWith(prefix));
}

export function shownPrefix(secret: string): string {
  return secret.slice(0, shownLength);
}

/** A secret of 256 random bits needs no salt. */
export function secretHash(provider: CryptoProvider, secret: string): string {
  return digestOf(provider, secret);
}
