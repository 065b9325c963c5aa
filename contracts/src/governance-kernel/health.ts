import { z } from 'zod';
import { defineRoute } from '../route.ts';

export const healthz = defineRoute({
  operation: 'healthz',
  summary: 'Get the liveness of the process.',
  method: 'GET',
  path: '/healthz',
  auth: 'public',
  reply: z.strictObject({ status: z.literal('ok'), version: z.string() }),
});

export const version = defineRoute({
  operation: 'version',
  summary: 'Get the name and version of this service.',
  method: 'GET',
  path: '/version',
  auth: 'public',
  reply: z.strictObject({
    service: z.string(),
    version: z.string(),
    commit: z.string(),
    node_version: z.string(),
    gate_roster_hash: z.string(),
  }),
});
