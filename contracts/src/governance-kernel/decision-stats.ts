import { z } from 'zod';
import { ReasonCode } from '../reason-codes.ts';
import { defineRoute } from '../route.ts';
import { EffectLevel, Instant, PrincipalId, ToolName, Verdict } from '../scalars.ts';

/** The width of a bucket in minutes. */
export const bucketMinutes = { '5m': 5, '30m': 30, '1h': 60, '1d': 1440 } as const;
const StatBucket = z.enum(['5m', '30m', '1h', '1d']);
export type StatBucket = z.infer<typeof StatBucket>;

/** The most buckets that a chart can show; a longer period needs wider buckets. */
export const bucketsMax = 200;
/** Series with the most calls. All further keys are counted together. */
export const seriesMax = 20;

const Counts = z.array(z.int().nonnegative()).max(bucketsMax);

/** Counts of calls, in buckets that begin at whole multiples of their width (UTC). Trials of `shadow` are not calls. */
export const DecisionStats = z.strictObject({
  bucket: StatBucket,
  /** When each bucket begins. */
  buckets: z.array(Instant).max(bucketsMax),
  /** The series with the most calls first. The key of a series is `null` when its calls have no tool. */
  series: z.array(z.strictObject({ key: z.string().nullable(), total: z.int(), counts: Counts })).max(seriesMax),
  /** All further keys together; `null` when there are none. */
  others: z.strictObject({ total: z.int(), counts: Counts }).nullable(),
  total: z.int().nonnegative(),
  /** The number of counted log entries. Answers for one period are equal when this is equal. */
  tree_size: z.int().nonnegative(),
  /** `null` when all of the log is counted. Otherwise decisions that were issued later are missing. */
  complete_to: Instant.nullable(),
});
export type DecisionStats = z.infer<typeof DecisionStats>;

export const getDecisionStats = defineRoute({
  operation: 'get-decision-stats',
  summary:
    'Get the number of decisions over time, by verdict, agent, tool, reason or effect. The newest decisions may ' +
    'be missing.',
  method: 'GET',
  path: '/api/v1/stats/decisions',
  auth: 'tenant_scoped',
  forward: { opensTo: 'member', right: 'evidence.read' },
  assertedBy: ['member', 'partner', 'owner'],
  query: z.strictObject({
    tenant_id: z.string().optional(),
    /** The start of the period, inclusive, rounded to the start of its bucket. Default: a day before `to`. */
    from: Instant.optional(),
    /** The end of the period, exclusive, rounded to the end of its bucket. Default: now. */
    to: Instant.optional(),
    bucket: StatBucket.default('30m'),
    /** The member of decisions that the series are counted by. */
    by: z.enum(['verdict', 'agent', 'tool', 'reason', 'effect']).default('verdict'),
    verdict: Verdict.optional(),
    agent: PrincipalId.optional(),
    tool: ToolName.optional(),
    reason_code: ReasonCode.optional(),
    effect_level: EffectLevel.optional(),
  }),
  reply: DecisionStats,
});

export const deleteDecisionStats = defineRoute({
  operation: 'delete-decision-stats',
  summary: 'Delete the counters of all tenants. The kernel counts the log again from its first entry.',
  method: 'DELETE',
  path: '/api/v1/stats/decisions',
  auth: 'admin',
  idempotency: { exempt: 'repeatable' },
  reply: z.strictObject({ tree_size: z.literal(0) }),
});
