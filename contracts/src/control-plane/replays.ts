import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { Digest, Instant, SessionId, TenantId, UserId, Verdict } from '../scalars.ts';
import { Changed, examplesMax, VerdictAgain, VerdictMatrix } from './what-if-report.ts';
import { OfWorkspace } from './workspace-path.ts';

/** 128 random bits, base64url, so that it cannot be guessed. */
export const ReplayId = z
  .string()
  .regex(/^rpl_[A-Za-z0-9_-]{22}$/, 'must look like rpl_ and 22 letters of base64url')
  .brand<'ReplayId'>();
export type ReplayId = z.infer<typeof ReplayId>;

/** The most decisions of a replay. One answer contains a page of them. */
const replayDecisionsMax = 1_000;
/** The most receipts that a replay reads. For an old session, most of the receipts read belong to other sessions. */
export const replayReceiptsMax = 20_000;

const Count = z.int().min(0);

/** `recorded`: each decision under its original policy. `draft`: all decisions under the compiled draft. */
const ReplayPolicy = z.enum(['recorded', 'draft']);

/** The verdicts of one decision, as sealed and as replayed. */
const VerdictPair = z.strictObject({ receipt_hash: Digest, before: Verdict, after: VerdictAgain });

/**
 * The public findings of a replay: counts, hashes and verdicts. `replay_hash` is the SHA-256 of the canonical JSON (RFC
 * 8785) of all other members. The same query, policies and receipts give the same hash.
 */
export const ReplayFindings = z.strictObject({
  type: z.literal('countersign.replay.v1'),
  /** `recorded`: each decision under its original policy. `draft`: all decisions under the compiled draft. */
  policy: ReplayPolicy,
  /** The hash of the draft; `null` when each decision has its own policy. */
  policy_hash: Digest.nullable(),
  /** The replay covers receipts below this position in the log, and begins with the newest of them. */
  tree_size: Count,
  decisions: Count.max(replayDecisionsMax),
  /** Whether the replay covers only one session or period. Other decisions may exist. */
  is_narrowed: z.boolean(),
  /** Whether all requested decisions were replayed. */
  is_whole: z.boolean(),
  /** Receipts, records and chain links that do not verify. Their decisions are not replayed. */
  unverifiable: Count,
  matrix: VerdictMatrix,
  /** Oldest first. */
  pairs: z.array(VerdictPair).max(replayDecisionsMax),
  /**
   * The oldest decision with a different verdict. `place` is its index in `pairs`, from 0. Decisions that cannot be
   * replayed are not counted.
   */
  first_difference: VerdictPair.extend({ place: Count }).nullable(),
  replay_hash: Digest,
});
export type ReplayFindings = z.infer<typeof ReplayFindings>;

/** The public members of a published replay. Times are rounded down to the minute. */
export const PublicReplay = ReplayFindings.extend({ replay_id: ReplayId, made_at: Instant });
export type PublicReplay = z.infer<typeof PublicReplay>;

/** Details that only members of the workspace can read. */
export const ReplayDetails = z.strictObject({
  first_difference: Changed.nullable(),
  /** The oldest differences, oldest first. */
  differences: z.array(Changed).max(examplesMax),
  /** Receipts, records and chain links that do not verify, each with a code. */
  unverifiable: z.array(z.strictObject({ receipt_id: Changed.shape.receipt_id.nullable(), code: z.string() })),
  /** The fields that records lack, each with the number of decisions that could not be replayed without it. */
  missing: z.array(z.strictObject({ field: z.string(), decisions: Count })),
});
export type ReplayDetails = z.infer<typeof ReplayDetails>;

/** The query of a replay. */
export const ReplayQuestion = z.strictObject({
  tenant_id: TenantId,
  /** `recorded`: each decision under its original policy. `draft`: all decisions under the compiled draft. */
  policy: ReplayPolicy,
  policy_hash: Digest.nullable(),
  /** `null` for all sessions. */
  session_id: SessionId.nullable(),
  /** The start of the period, inclusive. */
  from: Instant.nullable(),
  /** The end of the period, exclusive. */
  to: Instant.nullable(),
  limit: z.int().min(1).max(replayDecisionsMax),
});
export type ReplayQuestion = z.infer<typeof ReplayQuestion>;

export const Replay = z.strictObject({
  replay_id: ReplayId,
  state: z.enum(['queued', 'running', 'done', 'failed']),
  question: ReplayQuestion,
  /** Decisions that were replayed so far. */
  decisions: Count,
  created_by: UserId,
  created_at: Instant,
  finished_at: Instant.nullable(),
  /** The reason of the failure, as text. */
  failure: z.string().nullable(),
  findings: ReplayFindings.nullable(),
  details: ReplayDetails.nullable(),
});
export type Replay = z.infer<typeof Replay>;

export const createReplay = defineRoute({
  operation: 'create-replay',
  summary:
    'Replay sealed decisions under their original policies or the compiled draft, in the background. This ' +
    'replaces a replay that is not finished.',
  method: 'POST',
  path: '/api/v1/replays',
  auth: 'session',
  forward: {},
  idempotency: 'key',
  leastRole: 'member',
  right: 'replay.create',
  status: 202,
  bodyBytesMax: 10_000,
  body: z.strictObject({
    /** `recorded`: each decision under its original policy. `draft`: all decisions under the compiled draft. */
    policy: ReplayPolicy.default('recorded'),
    /** Absent: every session. */
    session_id: SessionId.optional(),
    /** The start of the period, inclusive. */
    from: Instant.optional(),
    /** The end of the period, exclusive. */
    to: Instant.optional(),
    limit: z.int().min(1).max(replayDecisionsMax).default(replayDecisionsMax),
  }),
  reply: Replay,
  errors: ['ILLEGAL_TRANSITION'],
});

/** Accepts any text, so that an impossible id gets the same 404 as an unknown one. */
const ReplayName = z.string().min(1).max(128);

export const getReplay = defineRoute({
  operation: 'get-replay',
  summary: 'Get the progress and the findings of a replay, with the calls whose verdict differs.',
  method: 'GET',
  path: '/api/v1/workspaces/{id}/replays/{replay_id}',
  auth: 'session',
  forward: {},
  leastRole: 'member',
  right: 'replay.read',
  params: OfWorkspace.extend({ replay_id: ReplayName }),
  reply: Replay,
  errors: ['NOT_FOUND'],
});

export const getPublicReplay = defineRoute({
  operation: 'get-public-replay',
  summary: 'Get the public part of a replay, by its id or by the handle that published it.',
  method: 'GET',
  path: '/api/v1/replays/{replay_id}',
  auth: 'public',
  forward: {},
  params: z.strictObject({ replay_id: ReplayName }),
  reply: PublicReplay,
  errors: ['NOT_FOUND'],
});
