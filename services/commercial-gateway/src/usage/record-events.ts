import { AppError, isAppError } from '@countersign/contracts';
import type { BillingCaller, BillingDeps } from '../billing-deps.ts';
import { parseUsageEvent } from '../metering/parse-usage-event.ts';
import type { UsageEvent } from '../metering/usage-event.ts';
import { recordUsage, type RecordedUsage } from '../store/usage-events.ts';

/** One statement stores the whole batch. */
const batchMax = 1_000;

/**
 * Stores submitted events (attacker-controlled), each one once. Throws INVALID_REQUEST, naming the event and its member, when one of
 * them is invalid; no event is stored then.
 */
export async function recordEvents(
  { transaction, now }: Pick<BillingDeps, 'transaction' | 'now'>,
  events: readonly unknown[],
  { orgId }: Pick<BillingCaller, 'orgId'>,
): Promise<RecordedUsage> {
  if (events.length > batchMax)
    throw new AppError(
      'INVALID_REQUEST',
      `events has ${events.length} members (limit ${batchMax}). Send less at once`,
      {
        param: 'events',
      },
    );
  const receivedAt = now();
  const parsed = events.map((event, index) => parseAt(index, event, receivedAt));
  return await transaction((tx) => recordUsage(tx, { orgId, events: parsed, receivedAt }));
}

function parseAt(index: number, event: unknown, now: Date): UsageEvent {
  try {
    return parseUsageEvent(event, now);
  } catch (error) {
    if (!isAppError(error)) throw error;
    const param = [`events[${index}]`, error.param ?? ''].filter((part) => part !== '').join('.');
    throw new AppError(error.code, `events[${index}]: ${error.message}`, { param });
  }
}
