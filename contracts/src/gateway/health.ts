import { z } from 'zod';
import { defineRoute } from '../route.ts';

export const Reachability = z.enum(['ok', 'unreachable', 'not_configured']);
export type Reachability = z.infer<typeof Reachability>;

export const getHealth = defineRoute({
  operation: 'get-health',
  summary: 'Overall status; database, job queue and governance told apart. 503 when nothing useful can be done.',
  method: 'GET',
  path: '/health',
  auth: 'public',
  alsoStatus: [503],
  reply: z.strictObject({
    status: z.enum(['ok', 'degraded', 'unavailable']),
    service: z.literal('gateway'),
    version: z.string(),
    uptimeSeconds: z.int().min(0),
    checks: z.strictObject({ database: Reachability, queue: Reachability, governance: Reachability }),
    /** True under GOV_FAIL_CLOSED=1. */
    governanceRequired: z.boolean(),
    governanceLatencyMs: z.number().min(0).nullable(),
  }),
});
