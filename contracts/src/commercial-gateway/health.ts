import { z } from 'zod';
import { defineRoute } from '../route.ts';

const Reachability = z.enum(['ok', 'unreachable']);

export const getHealth = defineRoute({
  operation: 'get-commercial-gateway-health',
  summary: 'Get the health of the service, its database and its queue. Returns 503 when the database does not answer.',
  method: 'GET',
  path: '/health',
  auth: 'public',
  alsoStatus: [503],
  reply: z.strictObject({
    status: z.enum(['ok', 'degraded', 'unavailable']),
    service: z.literal('commercial-gateway'),
    version: z.string(),
    uptime_seconds: z.int().min(0),
    checks: z.strictObject({ database: Reachability, queue: Reachability }),
  }),
});

export const getCommercialStatus = defineRoute({
  operation: 'get-commercial-status',
  summary: 'Get whether plans, usage and billing are available in this installation.',
  method: 'GET',
  path: '/api/commercial/status',
  auth: 'public',
  forward: {},
  reply: z.strictObject({
    service: z.literal('commercial-gateway'),
    version: z.string(),
    status: z.literal('ok'),
  }),
});
