import { z } from 'zod';
import { defineRoute } from '../route.ts';

const Reachability = z.enum(['ok', 'unreachable']);

export const getHealth = defineRoute({
  operation: 'get-control-plane-health',
  summary: 'Overall status; database, queue and gateway told apart. 503 when nothing useful can be done.',
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
