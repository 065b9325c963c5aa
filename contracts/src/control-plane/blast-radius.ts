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

/** A stop that is asked about before anybody gives it. */
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

/** So many receipts one answer rests on at most, the newest; `is_whole` says whether there were more. */
export const radiusReceiptsMax = 10_000;
/** So many agents are asked for what relations they have. */
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
  /** Questions that nobody has answered, and approvals that nobody has used: while the stop stands, no call is made by them. */
  approvals: z.array(ApprovalId),
  /** Calls that were sent and are not settled: a stop does not take them back. */
  dispatches: z.array(DecisionId),
  /** What these agents are given by relations, and cannot use meanwhile. */
  relations: z.array(RelationTuple),
});

const examplesMax = 20;

/** What stops would have reached of the last seven days before `tree_size`: the same steps and the same log give the same answer. */
export const BlastRadius = z.strictObject({
  type: z.literal('countersign.blast-radius.v1'),
  tenant_id: TenantId,
  steps: z.array(z.strictObject({ kind: z.enum(['freeze', 'quarantine', 'throttle']), target: OpsTarget })),
  /** Of the signed checkpoint that it was worked out under; 0 and null: the workspace has no receipt. */
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
  /** `whole`: when it is lifted, all goes on as before. `partial`: approvals may run out meanwhile, and have to be asked for again. */
  reversibility: z.enum(['whole', 'partial']),
  /** Over all other members. */
  radius_hash: Digest,
});
export type BlastRadius = z.infer<typeof BlastRadius>;

export const createBlastRadius = defineRoute({
  operation: 'create-blast-radius',
  summary:
    'What stops would reach, from the receipts of the last seven days, open calls, open approvals and relations. Equal at equal tree size; it ' +
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
