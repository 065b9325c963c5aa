import { z } from 'zod';
import { defineRoute } from '../route.ts';

export const Reachability = z.enum(['ok', 'unreachable', 'not_configured']);
export type Reachability = z.infer<typeof Reachability>;

export const HealthChecks = z.strictObject({
  database: Reachability,
  queue: Reachability,
  governance: Reachability,
  /** `absent`: for a minute, no gateway has reported that it accepts runs. `unknown`: the database does not answer. */
  workers: z.enum(['ok', 'absent', 'unknown']),
});
export type HealthChecks = z.infer<typeof HealthChecks>;

export const HealthProblem = z.strictObject({
  check: HealthChecks.keyof(),
  /** The meaning of the state, and the next step. */
  message: z.string(),
});
export type HealthProblem = z.infer<typeof HealthProblem>;

export const getHealth = defineRoute({
  operation: 'get-health',
  summary:
    'Get the health of the service, its database, its job queue, the kernel and the workers. Returns 503 when the ' +
    'service cannot do useful work.',
  method: 'GET',
  path: '/health',
  auth: 'public',
  alsoStatus: [503],
  reply: z.strictObject({
    status: z.enum(['ok', 'degraded', 'unavailable']),
    service: z.literal('gateway'),
    version: z.string(),
    uptimeSeconds: z.int().min(0),
    checks: HealthChecks,
    /** One entry for each check that needs an operator. */
    problems: z.array(HealthProblem),
    /** `true` with GOV_FAIL_CLOSED=1: without a fresh, verified ALLOW nothing is executed. */
    governanceRequired: z.boolean(),
    governanceLatencyMs: z.number().min(0).nullable(),
  }),
});
