import { z } from 'zod';
import { GateName, ReasonCode } from '../reason-codes.ts';
import {
  AmountMinor,
  Digest,
  EffectLevel,
  PlainObject,
  PlainValue,
  ToolName,
  Verdict,
  type ConformanceReportId,
  type SessionId,
  type TenantId,
} from '../scalars.ts';
import { PolicyBundle, PolicyRule } from './policy-bundle.ts';
import { PolicyCeiling } from './policy-ceilings.ts';
import { RelationTuple } from './relation-names.ts';

export const VectorId = z
  .string()
  .max(96)
  .regex(/^[a-z0-9]+(?:[.-][a-z0-9]+)*$/);
export type VectorId = z.infer<typeof VectorId>;

/**
 * `negative`: the call is faulty and the kernel must reject it. `positive`: the call is correct, so a kernel that
 * rejects everything fails.
 */
const VectorSet = z.enum(['positive', 'negative']);

const Named = {
  id: VectorId,
  set: VectorSet,
  title: z.string().min(1).max(128),
  description: z.string().min(1).max(1024),
  /** The gates whose absence the vector detects. */
  gates: z.array(GateName),
};

/** Facts that gates read, by their names in the decision cycle. */
export const FactName = z.enum([
  'request',
  'fence',
  'settings',
  'policy',
  'identity',
  'relationship',
  'registry',
  'scopes',
  'sandbox',
  'egress',
  'provenance',
  'block',
  'budgets',
  'approval',
]);

/** Faults that callers cannot cause, and that a kernel must handle. */
export const VectorFault = z.discriminatedUnion('kind', [
  /** The source of the fact returns this value. */
  z.strictObject({ kind: z.literal('fact'), fact: FactName, value: PlainValue }),
  /** The source of the fact is down, too stale, or returns values that are detectably wrong. */
  z.strictObject({ kind: z.literal('fact_unavailable'), fact: FactName }),
  /** The arguments were altered before the gates read them. */
  z.strictObject({ kind: z.literal('arguments_lost') }),
  z.strictObject({ kind: z.literal('evaluator'), does: z.enum(['throws', 'hangs', 'answers_nonsense']) }),
  /** Commits fail. */
  z.strictObject({ kind: z.literal('store_away') }),
]);
export type VectorFault = z.infer<typeof VectorFault>;

/** One call of a tool that the kernel executes, on a ledger in memory, with an injected fault. */
export const InProcessVector = z.strictObject({
  ...Named,
  surface: z.literal('in_process'),
  given: z.strictObject({
    tool: ToolName,
    /** The injected fault. `null` for no fault. */
    fault: VectorFault.nullable(),
    /** A model proposes the call in its answer, so the kernel does not execute it. */
    proposed: z.boolean().default(false),
  }),
  expect: z.strictObject({
    verdict: Verdict.optional(),
    reason_code: ReasonCode.optional(),
    /** The expected error, instead of a verdict, when no decision can be sealed. */
    error: z.literal('RECEIPT_STORE_UNAVAILABLE').optional(),
    /** Whether the tool was called. */
    executed: z.boolean(),
  }),
});
export type InProcessVector = z.infer<typeof InProcessVector>;

const VectorFence = z
  .strictObject({
    scope: z.enum(['org', 'tenant', 'agent', 'tool']),
    tool: ToolName.optional(),
    kind: z.enum(['freeze', 'quarantine', 'throttle']),
    call_limit: z.int().min(0).optional(),
  })
  .refine(({ kind, call_limit: limit }) => (kind === 'throttle') === (limit !== undefined));

const VectorBudget = z.strictObject({
  tool_call_limit: z.int().min(0).nullable().default(null),
  spend_limit_minor: AmountMinor.nullable().default(null),
  egress_limit_bytes: z.int().min(0).nullable().default(null),
  approval_required_above_minor: AmountMinor.nullable().default(null),
});

/** How the tenant of the vector is set up before its first step. */
const VectorSetting = z.strictObject({
  rules: z.array(PolicyRule).max(20),
  tools: z.record(ToolName, z.strictObject({ effect_level: EffectLevel })).default({}),
  fences: z.array(VectorFence).default([]),
  budget: VectorBudget.nullable().default(null),
  blocked_tools: z.array(ToolName).default([]),
  /** Ceilings that are set although the bundle does not contain them. */
  ceilings: z.array(PolicyCeiling).default([]),
  /** The relations that the bundle reads, and the tuples that were written. */
  relations: PolicyBundle.shape.relations,
  tuples: z.array(RelationTuple).default([]),
  /** Whether an approval of the tenant needs a signature, and a bearer token is not enough. */
  signatures_only: z.boolean().default(false),
  /** Keys of the agent `agent`, by their names in the steps. */
  keys: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-z-]{1,32}$/),
        doors: z.array(z.enum(['evaluate', 'chat', 'mcp'])).min(1),
        tools: z.array(ToolName).min(1).optional(),
        revoked: z.boolean().default(false),
      }),
    )
    .default([]),
});

export const VectorDoor = z.enum(['evaluate', 'execute', 'mcp', 'chat']);
export type VectorDoor = z.infer<typeof VectorDoor>;

/** An earlier step of the same vector, by its index in the list. */
const Earlier = z.int().min(0);

const CallStep = z.strictObject({
  do: z.literal('call'),
  door: VectorDoor,
  /** `operator`, `nobody` (without credentials), or the name of a key. */
  by: z.string().max(32).default('operator'),
  /**
   * The body for `evaluate` and `execute`, the params of tools/call for `mcp`, and the request for `chat`. The session
   * is filled in.
   */
  body: PlainObject,
  headers: z.record(z.string(), z.string()).default({}),
  /** The call uses the approval that the named earlier step opened. */
  grant_of: Earlier.optional(),
  /** The number of simultaneous calls. */
  times: z.int().min(1).max(50).default(1),
  expect: z.strictObject({
    status: z.int(),
    /** The expected verdict. Absent when nothing is decided or sealed. */
    verdict: Verdict.optional(),
    reason_code: ReasonCode.optional(),
    /** The expected error code. Absent when no error is expected. */
    error: z.string().optional(),
    /** The answer repeats the decision of the named earlier step. */
    repeats: Earlier.optional(),
    /** The number of the `times` calls with this answer. The others are denied with `rest`. */
    exactly: z.int().min(0).optional(),
    rest: ReasonCode.optional(),
  }),
});
export type CallStep = z.infer<typeof CallStep>;

const AnswerStep = z.strictObject({
  do: z.literal('answer'),
  /** The earlier step that opened the approval. */
  of: Earlier,
  principal: z.string().max(64),
  action: z.enum(['approve', 'deny']),
  expect: z.strictObject({ status: z.int() }),
});

const ReadStep = z.strictObject({
  do: z.literal('read'),
  /** The earlier step whose receipt an operator of another tenant tries to read. */
  of: Earlier,
  expect: z.strictObject({ status: z.int() }),
});

export const VectorStep = z.discriminatedUnion('do', [CallStep, AnswerStep, ReadStep]);
export type VectorStep = z.infer<typeof VectorStep>;

/** Calls of the running kernel over HTTP, in a tenant of the vector's own. */
export const LiveVector = z.strictObject({
  ...Named,
  surface: z.literal('live'),
  /** The requirement on the deployment. If it is not met, the vector is skipped and the report states this. */
  needs: z.literal('model').nullable().default(null),
  /** Whether a short run of the conformance suite also executes the vector. */
  short: z.boolean().default(false),
  given: VectorSetting,
  steps: z.array(VectorStep).min(1).max(20),
});
export type LiveVector = z.infer<typeof LiveVector>;

export const ConformanceVector = z.discriminatedUnion('surface', [InProcessVector, LiveVector]);
export type ConformanceVector = z.infer<typeof ConformanceVector>;

export const VectorList = z.strictObject({
  data: z.array(ConformanceVector),
  /** SHA-256 of the canonical JSON of all vectors. A report contains it. Equal hashes mean equal vectors. */
  vectors_hash: Digest,
});

export const conformanceTenantPrefix = 'conformance:';

/** The tenant in which every run executes a vector. No real tenant has such an id. */
export function tenantOfVector(id: VectorId): TenantId {
  return `${conformanceTenantPrefix}${id}` as TenantId; // VectorId is short enough for a TenantId
}

/** The session that a run uses in the tenant of each vector. */
export function sessionOfRun(id: ConformanceReportId): SessionId {
  return id.replace('cfr_', 'conformance-') as SessionId; // within the limits of SessionId
}
