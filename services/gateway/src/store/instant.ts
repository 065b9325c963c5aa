import { Instant } from '@countersign/contracts';

export function instant(date: Date): Instant {
  return Instant.parse(date.toISOString());
}

export function instantOrNull(date: Date | null): Instant | null {
  return date === null ? null : instant(date);
}
