import { z } from 'zod';
import { defineRoute } from '../route.ts';

export const Reachability = z.enum(['ok', 'unreachable', 'not_configured']);
export type Reachability = z.infer<typeof Reachability>;

export const HealthChecks = z.strictObject({
  database: Reachability,
  queue: Reachability,
  governance: Reachability,
  /** `absent`: no gateway has reported for a minute that it takes runs. `unknown`: the database does not answer. */
  workers: z.enum(['ok', 'absent', 'unknown']),
});
export type HealthChecks = z.infer<typeof HealthChecks>;

export const HealthProblem = z.strictObject({
  check: HealthChecks.keyof(),
  /** The meaning, and the next step. */
  message: z.string(),
});
export type HealthProblem = z.infer<typeof HealthProblem>;

export const getHealth = defineRoute({
  operation: 'get-health',
  summary: 'Overall status; database, job queue, governance and workers apart. 503 when nothing useful can be done.',
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
    /** One for each check that needs an operator. */
    problems: z.array(HealthProblem),
    /** True under GOV_FAIL_CLOSED=1. */
    governanceRequired: z.boolean(),
    governanceLatencyMs: z.number().min(0).nullable(),
  }),
});
