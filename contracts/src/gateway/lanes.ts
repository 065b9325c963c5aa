import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { ControlVersion, storableText } from '../scalars.ts';

/** `hold`: no queued run of the workspace is leased, and running runs go back to the queue after their step. */
export const LaneState = z.enum(['run', 'hold']);
export type LaneState = z.infer<typeof LaneState>;

/** Runs are counted up to this number. */
export const laneCountMax = 1_000;

export const Lane = z.strictObject({
  lane: LaneState,
  /** 0 when the lane was never set. */
  version: z.int().min(0),
  /** Runs that a worker has leased. A paused lane is idle when there are none. */
  running: z.int().min(0).max(laneCountMax),
  queued: z.int().min(0).max(laneCountMax),
});
export type Lane = z.infer<typeof Lane>;

const LanePath = z.strictObject({ workspace_id: z.string().min(1).max(128) });

export const getLane = defineRoute({
  operation: 'get-lane',
  summary: 'Get the lane of a workspace, and the number of its running and queued runs.',
  method: 'GET',
  path: '/internal/workspaces/{workspace_id}/lane',
  auth: 'service_internal',
  params: LanePath,
  reply: Lane,
  errors: ['NOT_FOUND'],
});

export const putLane = defineRoute({
  operation: 'put-lane',
  summary:
    'Set whether queued runs of a workspace are leased. An older version changes nothing. The answer has the lane ' +
    'and version in force.',
  method: 'PUT',
  path: '/internal/workspaces/{workspace_id}/lane',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: LanePath,
  body: z.strictObject({
    version: ControlVersion,
    lane: LaneState,
    /** The caller who requested this state of the lane: a user id, or the principal of a key. */
    by: storableText({ min: 1, max: 256 }),
  }),
  reply: Lane,
  errors: ['NOT_FOUND'],
});
