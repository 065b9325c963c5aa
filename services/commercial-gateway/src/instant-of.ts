import { Instant } from '@countersign/contracts';

/** The time as it travels. */
export function instantOf(time: Date): Instant {
  return Instant.parse(time.toISOString());
}

export function instantOrNull(time: Date | null): Instant | null {
  return time === null ? null : instantOf(time);
}
