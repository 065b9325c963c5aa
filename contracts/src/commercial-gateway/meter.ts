import { z } from 'zod';

/**
 * A quantity that plans price. `decisions` and `tool_calls` are counted from receipts; all other meters are counted
 * from usage events.
 */
export const Meter = z.enum(['decisions', 'tool_calls', 'model_tokens', 'run_minutes', 'storage_gb_days', 'seats']);
export type Meter = z.infer<typeof Meter>;
