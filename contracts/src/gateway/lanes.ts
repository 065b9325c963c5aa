import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { ControlVersion, storableText } from '../scalars.ts';

/** `hold`: no queued run of the workspace is leased, and running runs go back to the queue after their step. */
export const LaneState = z.enum(['run', 'hold']);
export type LaneState = z.infer<typeof LaneState>;

/** More runs are not counted. */
export const laneCountMax = 1_000;

export const Lane = z.strictObject({
  lane: LaneState,
  /** 0 when the lane was never set. */
  version: z.int().min(0),
  /** Runs that a worker has leased. A lane that is held is at rest when there are none. */
  running: z.int().min(0).max(laneCountMax),
  queued: z.int().min(0).max(laneCountMax),
});
export type Lane = z.infer<typeof Lane>;

const LanePath = z.strictObject({ workspace_id: z.string().min(1).max(128) });

export const getLane = defineRoute({
  operation: 'get-lane',
  summary: 'The lane of a workspace, and how many of its runs are running and queued.',
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
    'Set whether queued runs of a workspace are leased. The version is that of its source and only rises: an older one changes nothing, and ' +
    'the answer names the lane and version that apply.',
  method: 'PUT',
  path: '/internal/workspaces/{workspace_id}/lane',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: LanePath,
  body: z.strictObject({
    version: ControlVersion,
    lane: LaneState,
    /** The caller who requested it: a user id, or the principal of a key. */
    by: storableText({ min: 1, max: 256 }),
  }),
  reply: Lane,
  errors: ['NOT_FOUND'],
});
