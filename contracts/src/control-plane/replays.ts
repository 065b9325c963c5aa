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

/** The most decisions that a replay shows, since one answer holds a page of them. */
const replayDecisionsMax = 1_000;
/** The most receipts that it reads. In a session that ended long ago, most of them belong to other questions. */
export const replayReceiptsMax = 20_000;

const Count = z.int().min(0);

/** `recorded`: each decision under the very policy that it was made by. `draft`: all of them under the compiled draft. */
const ReplayPolicy = z.enum(['recorded', 'draft']);

/** One decision as it was sealed, and what it is when it is made again. */
const VerdictPair = z.strictObject({ receipt_hash: Digest, before: Verdict, after: VerdictAgain });

/**
 * The findings of a replay, in members that are public: counts, hashes and verdicts. `replay_hash` is the SHA-256 of
 * the canonical JSON (RFC 8785) of all others: the same question, policies and receipts give the same replay.
 */
export const ReplayFindings = z.strictObject({
  type: z.literal('countersign.replay.v1'),
  policy: ReplayPolicy,
  /** The hash of the draft; `null` when each decision has its own policy. */
  policy_hash: Digest.nullable(),
  /** Every receipt below this place in the log was to be looked at, from the newest on. */
  tree_size: Count,
  decisions: Count.max(replayDecisionsMax),
  /** One session or a span of time was asked about: there may be decisions that this says nothing of. */
  is_narrowed: z.boolean(),
  /** Nothing older was left: these are all decisions that were asked about. */
  is_whole: z.boolean(),
  /** Receipts and records that do not verify, and links of chains that do not fit. None of them is decided again. */
  unverifiable: Count,
  matrix: VerdictMatrix,
  /** Oldest first. */
  pairs: z.array(VerdictPair).max(replayDecisionsMax),
  /**
   * The oldest decision that has another verdict now, by its place among the pairs, from 0. A decision that cannot be
   * replayed is no difference.
   */
  first_difference: VerdictPair.extend({ place: Count }).nullable(),
  replay_hash: Digest,
});
export type ReplayFindings = z.infer<typeof ReplayFindings>;

/** All that strangers see of a published replay. Times are to the minute. */
export const PublicReplay = ReplayFindings.extend({ replay_id: ReplayId, made_at: Instant });
export type PublicReplay = z.infer<typeof PublicReplay>;

/** The members that only the members of the workspace read. */
export const ReplayDetails = z.strictObject({
  first_difference: Changed.nullable(),
  /** Oldest first, the first of them. */
  differences: z.array(Changed).max(examplesMax),
  unverifiable: z.array(z.strictObject({ receipt_id: Changed.shape.receipt_id.nullable(), code: z.string() })),
  /** The missing fields, each with the number of decisions. */
  missing: z.array(z.strictObject({ field: z.string(), decisions: Count })),
});
export type ReplayDetails = z.infer<typeof ReplayDetails>;

/** The question of a replay. */
export const ReplayQuestion = z.strictObject({
  tenant_id: TenantId,
  policy: ReplayPolicy,
  policy_hash: Digest.nullable(),
  /** Null: every session. */
  session_id: SessionId.nullable(),
  /** Inclusive. */
  from: Instant.nullable(),
  /** Exclusive. */
  to: Instant.nullable(),
  limit: z.int().min(1).max(replayDecisionsMax),
});
export type ReplayQuestion = z.infer<typeof ReplayQuestion>;

export const Replay = z.strictObject({
  replay_id: ReplayId,
  state: z.enum(['queued', 'running', 'done', 'failed']),
  question: ReplayQuestion,
  /** Decided again so far. */
  decisions: Count,
  created_by: UserId,
  created_at: Instant,
  finished_at: Instant.nullable(),
  /** In words. */
  failure: z.string().nullable(),
  findings: ReplayFindings.nullable(),
  details: ReplayDetails.nullable(),
});
export type Replay = z.infer<typeof Replay>;

export const createReplay = defineRoute({
  operation: 'create-replay',
  summary:
    'Decide sealed decisions again from their records, in the background: under the policies that they were made by, or under the compiled draft. ' +
    'A replay of the workspace that is not finished yet gives way to this one.',
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
    policy: ReplayPolicy.default('recorded'),
    /** Absent: every session. */
    session_id: SessionId.optional(),
    /** Inclusive. */
    from: Instant.optional(),
    /** Exclusive. */
    to: Instant.optional(),
    limit: z.int().min(1).max(replayDecisionsMax).default(replayDecisionsMax),
  }),
  reply: Replay,
  errors: ['ILLEGAL_TRANSITION'],
});

/** Loose on purpose: what cannot be an id is answered like one that does not exist, with the same 404. */
const ReplayName = z.string().min(1).max(128);

export const getReplay = defineRoute({
  operation: 'get-replay',
  summary: 'How far a replay of the workspace is, what it found, and which calls that is about.',
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
  summary: 'The public part of a replay, by its id or by the handle under which its workspace published it.',
  method: 'GET',
  path: '/api/v1/replays/{replay_id}',
  auth: 'public',
  forward: {},
  params: z.strictObject({ replay_id: ReplayName }),
  reply: PublicReplay,
  errors: ['NOT_FOUND'],
});
