import { Instant } from '@countersign/contracts';

export function instant(date: Date): Instant {
  return Instant.parse(date.toISOString());
}
