import { z } from 'zod';
import { defineRoute } from '../route.ts';

const Reachability = z.enum(['ok', 'unreachable']);

export const getHealth = defineRoute({
  operation: 'get-control-plane-health',
  summary:
    'Get the health of the service, its database, its queue and the gateway. Returns 503 when the service cannot ' +
    'do useful work.',
  method: 'GET',
  path: '/health',
  auth: 'public',
  alsoStatus: [503],
  reply: z.strictObject({
    status: z.enum(['ok', 'degraded', 'unavailable']),
    service: z.literal('control-plane'),
    version: z.string(),
    uptime_seconds: z.int().min(0),
    checks: z.strictObject({ database: Reachability, queue: Reachability, gateway: Reachability }),
  }),
});
