import { z } from 'zod';
import { laneCountMax } from '../gateway/lanes.ts';
import { defineRoute } from '../route.ts';
import { Instant, WorkspaceId } from '../scalars.ts';

const RuntimeState = z.enum(['starting', 'running', 'stopping', 'stopped', 'failed']);

export const Runtime = z.strictObject({
  workspace_id: WorkspaceId,
  /**
   * `starting`, `stopping`: the gateway has not confirmed the request, or a step is still running. `stopped`: no queued
   * run is leased and no step is running. `failed`: the gateway refused the request; the next start or stop tries
   * again.
   */
  state: RuntimeState,
  /** The code of the refusal. `null` unless the state is `failed`. */
  failure: z.string().nullable(),
  /** `null` while the gateway has not confirmed the request. */
  running_runs: z.int().min(0).max(laneCountMax).nullable(),
  /** At most 1,000 are counted. `null` while the gateway has not confirmed the request. */
  queued_runs: z.int().min(0).max(laneCountMax).nullable(),
  /** The caller of the last start or stop. `null` when there was none. */
  changed_by: z.string().nullable(),
  changed_at: Instant.nullable(),
});
export type Runtime = z.infer<typeof Runtime>;

export const startRuntime = defineRoute({
  operation: 'start-runtime',
  summary: 'Start the runtime: workers lease the queued runs of the workspace again.',
  method: 'POST',
  path: '/api/basic/runtime/start',
  auth: 'commercial',
  leastRole: 'owner',
  right: 'stop.lift',
  keyScopes: ['runtime'],
  forward: {},
  idempotency: { exempt: 'repeatable' },
  status: 202,
  reply: Runtime,
  errors: ['NOT_FOUND'],
});

export const stopRuntime = defineRoute({
  operation: 'stop-runtime',
  summary:
    'Stop the runtime: workers lease no queued run of the workspace. A running step ends, and its run returns to ' +
    'the queue. Calls of external agents continue. Use a freeze to stop them.',
  method: 'POST',
  path: '/api/basic/runtime/stop',
  auth: 'commercial',
  leastRole: 'partner',
  right: 'stop.give',
  keyScopes: ['runtime'],
  forward: {},
  idempotency: { exempt: 'repeatable' },
  status: 202,
  reply: Runtime,
  errors: ['NOT_FOUND'],
});

export const getRuntimeStatus = defineRoute({
  operation: 'get-runtime-status',
  summary: 'Get whether queued runs of the workspace are leased, and the number of running and queued runs.',
  method: 'GET',
  path: '/api/basic/runtime/status',
  auth: 'commercial',
  leastRole: 'member',
  right: 'stop.read',
  keyScopes: ['runtime', 'basic:read'],
  forward: {},
  reply: Runtime,
  errors: ['NOT_FOUND', 'GATEWAY_UNAVAILABLE'],
});
