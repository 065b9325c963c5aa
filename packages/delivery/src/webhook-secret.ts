import { createHmac, type KeyObject } from 'node:crypto';

type Versioned = { id: string; secretVersion: number; rotatedAt: Date | null };

/** Time for a receiver to switch to a new secret. Until then, both secrets sign. */
export const secretOverlapMs = 24 * 3_600_000;

/**
 * The secrets that currently sign for a subscription, newest first: `whsec_` and 32 bytes in base64 (Standard Webhooks
 * 1.0).
 */
export function liveSecrets(key: KeyObject, { id, secretVersion, rotatedAt }: Versioned, now: Date): string[] {
  const isOldOneLive = rotatedAt !== null && now.getTime() < rotatedAt.getTime() + secretOverlapMs;
  const versions = isOldOneLive ? [secretVersion, secretVersion - 1] : [secretVersion];
  return versions.map((version) => secretOf(key, id, version));
}

function secretOf(key: KeyObject, id: string, version: number): string {
  const text = `countersign.webhook-secret.v1\n${id}\n${version}`;
  return `whsec_${createHmac('sha256', key).update(text).digest('base64')}`;
}
