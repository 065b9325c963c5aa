import { hash, timingSafeEqual } from 'node:crypto';

/** Constant-time comparison over SHA-256, so the time reveals neither content nor length of the secret. */
export function secretsEqual(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right));
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
