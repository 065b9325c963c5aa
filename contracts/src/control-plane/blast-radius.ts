import { z } from 'zod';
import { RelationTuple } from '../governance-kernel/relation-names.ts';
import { defineRoute } from '../route.ts';
import {
  ApprovalId,
  DecisionId,
  Digest,
  Instant,
  PrincipalId,
  ReceiptId,
  RunId,
  SessionId,
  TenantId,
  ToolName,
} from '../scalars.ts';
import { OpsTarget, StopTerms, ThrottleTerms } from './ops.ts';

/** A stop whose reach is computed before it is commanded. */
export const PlanStep = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('freeze'), ...StopTerms }),
  z.strictObject({ kind: z.literal('quarantine'), ...StopTerms }),
  z.strictObject({ kind: z.literal('throttle'), ...StopTerms, ...ThrottleTerms }),
]);
export type PlanStep = z.infer<typeof PlanStep>;

/** A person still reads them, and they are written in one transaction. */
const stepsMax = 20;

export const PlanSteps = z
  .array(PlanStep)
  .min(1)
  .max(stepsMax)
  .refine((steps) => new Set(steps.map(({ target }) => target)).size === steps.length, 'may name each target once');

/** The most receipts, the newest, that one answer covers; `is_whole` says whether there were more. */
export const radiusReceiptsMax = 10_000;
/** The most agents whose relations are read. */
export const relatedAgentsMax = 100;

/** Sorted, so that the same log gives the same bytes. */
const Affected = z.strictObject({
  /** Who called within the targets. */
  agents: z.array(PrincipalId),
  sessions: z.array(SessionId),
  /** Runs that wait for one of `approvals`, or have one of `dispatches` under way. */
  runs: z.array(RunId),
  tools: z.array(ToolName),
  /** Servers whose tools these are. */
  connectors: z.array(z.string()),
  /** Open questions and unused approvals. While the stop is in force, no call is made by them. */
  approvals: z.array(ApprovalId),
  /** Calls that were sent and are not settled: a stop does not take them back. */
  dispatches: z.array(DecisionId),
  /** The relations that these agents have, and cannot use during the stop. */
  relations: z.array(RelationTuple),
});

const examplesMax = 20;

/**
 * The reach that stops would have had in the last seven days before `tree_size`. The same steps and the same log give
 * the same answer.
 */
export const BlastRadius = z.strictObject({
  type: z.literal('countersign.blast-radius.v1'),
  tenant_id: TenantId,
  steps: z.array(z.strictObject({ kind: z.enum(['freeze', 'quarantine', 'throttle']), target: OpsTarget })),
  /** The size of the signed checkpoint under which it was computed. 0 and `null`: the workspace has no receipt. */
  tree_size: z.int().min(0),
  root_hash: Digest.nullable(),
  /** Seven days before the newest receipt. */
  from: Instant.nullable(),
  receipts: z.int().min(0),
  /** False: there were more receipts in that time than are looked at. */
  is_whole: z.boolean(),
  /** Left out, since they do not verify. */
  unverifiable: z.int().min(0),
  affected: Affected,
  /** The relations of more agents were not asked for. */
  more_relations: z.boolean(),
  /** Calls of that time that went through, or asked for an approval, and would have been denied. */
  denials: z.strictObject({ count: z.int().min(0), first: z.array(ReceiptId).max(examplesMax) }),
  /**
   * `whole`: when it is lifted, all goes on as before. `partial`: approvals may expire in the meantime, and have to be
   * requested again.
   */
  reversibility: z.enum(['whole', 'partial']),
  /** Over all other members. */
  radius_hash: Digest,
});
export type BlastRadius = z.infer<typeof BlastRadius>;

export const createBlastRadius = defineRoute({
  operation: 'create-blast-radius',
  summary:
    'The reach of stops, from the receipts of the last seven days, open calls, open approvals and relations. Equal at equal tree size; it changes nothing.' +
    'changes nothing.',
  method: 'POST',
  path: '/api/ops/blast-radius',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'reads' },
  leastRole: 'member',
  right: 'plan.read',
  keyScopes: ['basic:read'],
  body: z.strictObject({ steps: PlanSteps }),
  bodyBytesMax: 50_000,
  reply: BlastRadius,
  errors: ['NOT_FOUND', 'INVALID_REQUEST', 'GOVERNANCE_UNAVAILABLE'],
});
