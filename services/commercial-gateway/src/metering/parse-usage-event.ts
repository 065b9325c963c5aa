import { AppError, Instant, WorkspaceId } from '@countersign/contracts';
import { Meter } from '@countersign/contracts/commercial-gateway';
import { z } from 'zod';
import { microsPerUnit } from './micros.ts';
import type { UsageEvent } from './usage-event.ts';

/** Largest quantity of one event. Sums of such quantities still fit into BIGINT. */
const quantityMax = 1_000_000_000n;
const quantityDigits = 6;

const SubmittedMeter = Meter.exclude(['decisions', 'tool_calls']);

const Quantity = z
  .string()
  .regex(/^(0|[1-9]\d{0,9})(\.\d{1,6})?$/, 'must be a decimal string such as 1.5, with at most 6 decimal places')
  .transform(microsOf)
  .refine(
    (micros) => micros > 0n && micros <= quantityMax * microsPerUnit,
    `must be above 0 and at most ${quantityMax}`,
  );

/** A submitted usage event: a CloudEvent. Meters that are counted from receipts cannot be submitted. */
const SubmittedUsageEvent = z.strictObject({
  specversion: z.literal('1.0'),
  type: z.literal('usage.recorded.v1'),
  source: z
    .string()
    .regex(/^[\x21-\x7e]{1,256}$/, 'must be 1 to 256 visible ASCII characters')
    .refine((source) => !source.startsWith('/governance-kernel/'), 'must not be a source of receipts'),
  id: z.string().regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 visible ASCII characters'),
  time: Instant,
  datacontenttype: z.literal('application/json').optional(),
  data: z.strictObject({
    meter: SubmittedMeter,
    quantity: Quantity,
    workspace_id: WorkspaceId.optional(),
  }),
});

const windowDays = 35;
const windowMs = windowDays * 86_400_000;
/** Clocks of producers may be ahead by this much. */
const skewMs = 5 * 60_000;

/**
 * Parses an event that a caller submits (attacker-controlled). Throws INVALID_REQUEST, naming the member, for a
 * malformed event, for a time more than 5 minutes in the future, and for a time more than 35 days ago.
 */
export function parseUsageEvent(value: unknown, now: Date): UsageEvent {
  const parsed = SubmittedUsageEvent.safeParse(value);
  if (!parsed.success) throw invalid(parsed.error.issues[0]);
  const { source, id, time, data } = parsed.data;
  const occurredAt = new Date(time);
  const ageMs = now.getTime() - occurredAt.getTime();
  if (ageMs > windowMs) throw outsideWindow(`time is more than ${windowDays} days ago. Correct the time of the event`);
  if (ageMs < -skewMs) throw outsideWindow('time is in the future. Correct the clock of the producer');
  const { meter, quantity: quantityMicros, workspace_id: workspaceId = null } = data;
  return { source, id, meter, quantityMicros, workspaceId, occurredAt };
}

function invalid(issue: z.core.$ZodIssue | undefined): AppError {
  const param = issue?.path.join('.') ?? '';
  return new AppError(
    'INVALID_REQUEST',
    `${param === '' ? 'The usage event' : param} ${issue?.message ?? 'is invalid'}`,
    {
      param,
    },
  );
}

function outsideWindow(message: string): AppError {
  return new AppError('INVALID_REQUEST', message, { param: 'time' });
}

function microsOf(quantity: string): bigint {
  const [whole = '', fraction = ''] = quantity.split('.');
  return BigInt(whole + fraction.padEnd(quantityDigits, '0'));
}
