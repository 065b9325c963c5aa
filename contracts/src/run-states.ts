import { z } from 'zod';
import { storableText } from './scalars.ts';

export const TaskStatus = z.enum([
  'pending',
  'queued',
  'running',
  'awaiting_approval',
  'completed',
  'failed',
  'cancelled',
]);
export type TaskStatus = z.infer<typeof TaskStatus>;

export const RunStatus = z.enum([
  'queued',
  'running',
  'awaiting_approval',
  'completed',
  'failed',
  'denied',
  'budget_exhausted',
  'cancelled',
]);
export type RunStatus = z.infer<typeof RunStatus>;

/** The result of governance for the run, as a product term. `null` while nothing was decided. */
export const GovernedOutcome = z.enum(['allow', 'deny', 'escalate', 'unreachable/degraded']);
export type GovernedOutcome = z.infer<typeof GovernedOutcome>;

export const RunError = z.strictObject({ code: z.string(), message: z.string() });

export const ApprovalStatus = z.enum(['pending', 'approved', 'rejected', 'expired', 'cancelled']);
export type ApprovalStatus = z.infer<typeof ApprovalStatus>;

/** The longest description. Longer texts are documents, which a tool should read instead of the prompt. */
const descriptionLengthMax = 10_000;
export const TaskTitle = storableText({ max: 200 }).trim().min(1);
export const TaskDescription = storableText({ max: descriptionLengthMax });
