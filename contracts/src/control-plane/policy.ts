import { z } from 'zod';
import { bundleBytesMax, PolicyBundle, PolicyTest, RuleId } from '../governance-kernel/policy-bundle.ts';
import { PolicyCeiling } from '../governance-kernel/policy-ceilings.ts';
import { defineRoute } from '../route.ts';
import { DecisionId, Digest, Instant, ReceiptId, WhatIfId } from '../scalars.ts';
import { draftBodyBytesMax, PolicyDraft } from './policy-draft.ts';
import { PolicyShadow } from './policy-shadows.ts';
import { whatIfDecisionsMax, WhatIfReport } from './what-if-report.ts';
import { OfWorkspace } from './workspace-path.ts';

const PolicyTemplate = z.strictObject({ name: z.string(), summary: z.string(), text: z.string() });

export const getPolicyDraft = defineRoute({
  operation: 'get-policy-draft',
  summary: 'Get the draft of the workspace with its ETag. If there is none, returns templates and the ETag "0".',
  method: 'GET',
  path: '/api/v1/workspaces/{id}/policy/draft',
  auth: 'session',
  forward: {},
  leastRole: 'member',
  right: 'policy.read',
  opensToPrograms: true,
  params: OfWorkspace,
  reply: z.strictObject({ draft: PolicyDraft.nullable(), templates: z.array(PolicyTemplate) }),
});

export const putPolicyDraft = defineRoute({
  operation: 'put-policy-draft',
  summary:
    "Replace the draft, with If-Match. This discards its compilation and reports. During an owner's report and " +
    'for 15 minutes after it, only owners can write. The same holds for 5 minutes after a conflict of an owner.',
  method: 'PUT',
  path: '/api/v1/workspaces/{id}/policy/draft',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'precondition' },
  leastRole: 'member',
  right: 'policy.draft',
  opensToPrograms: true,
  params: OfWorkspace,
  body: z.strictObject({ text: z.string().min(1).max(bundleBytesMax) }),
  bodyBytesMax: draftBodyBytesMax,
  reply: PolicyDraft,
  errors: ['PRECONDITION_REQUIRED', 'PRECONDITION_FAILED', 'ILLEGAL_TRANSITION'],
});

export const createPolicyTest = defineRoute({
  operation: 'create-policy-test',
  summary:
    'Add a sealed decision to the tests of the draft, with If-Match. If the record lacks data or no rule gives ' +
    'its verdict, the error lists what is missing.',
  method: 'POST',
  path: '/api/v1/workspaces/{id}/policy/draft/tests',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'precondition' },
  leastRole: 'member',
  right: 'policy.draft',
  status: 201,
  params: OfWorkspace,
  body: z.strictObject({
    receipt_id: z.string().min(1).max(128),
    expect: PolicyTest.shape.expect,
    name: PolicyTest.shape.name,
  }),
  reply: z.strictObject({
    draft: PolicyDraft,
    test: PolicyTest,
    /** Whether the rules of the draft give the expected result. */
    passes: z.boolean(),
  }),
  errors: ['NOT_FOUND', 'PRECONDITION_REQUIRED', 'PRECONDITION_FAILED', 'ILLEGAL_TRANSITION', 'GOVERNANCE_UNAVAILABLE'],
});

export const PolicyDiagnostic = z.strictObject({
  severity: z.enum(['error', 'warning']),
  /** The error code of the compiler, `CEILING_MISSING`, or `LOCK_OUT` when no person could change the policy again. */
  code: z.string(),
  /** JSON pointer into the bundle. */
  path: z.string(),
  /** The line of the text, from 1. `null` when the error concerns the whole text, or the text is longer than 64 KiB. */
  line: z.int().min(1).nullable(),
  message: z.string(),
});
export type PolicyDiagnostic = z.infer<typeof PolicyDiagnostic>;

const RuleIds = z.array(RuleId);

export const CompiledDraft = z.strictObject({
  version: z.int().min(1),
  /** `null` when the draft has errors. */
  policy_hash: Digest.nullable(),
  /** The members of a call that the rules of the draft read. */
  read_set: z.array(z.string()),
  diagnostics: z.array(PolicyDiagnostic),
  tests: z.strictObject({ total: z.int().min(0), failed: z.int().min(0) }),
  /** The changes relative to the active bundle. */
  diff: z.strictObject({
    base_hash: Digest.nullable(),
    added: RuleIds,
    removed: RuleIds,
    changed: RuleIds,
  }),
  /** A summary as text, one sentence per item. */
  summary: z.array(z.string()),
});
export type CompiledDraft = z.infer<typeof CompiledDraft>;

export const compilePolicyDraft = defineRoute({
  operation: 'compile-policy-draft',
  summary: 'Compile the draft as the kernel would, and run its tests. Returns its errors and its changes.',
  method: 'POST',
  path: '/api/v1/workspaces/{id}/policy/compile',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'repeatable' },
  leastRole: 'member',
  right: 'policy.test',
  opensToPrograms: true,
  params: OfWorkspace,
  reply: CompiledDraft,
  errors: ['NOT_FOUND', 'GOVERNANCE_UNAVAILABLE'],
});

export const WhatIfJob = z.strictObject({
  report_id: WhatIfId,
  policy_hash: Digest,
  state: z.enum(['queued', 'running', 'done', 'failed']),
  /** Decisions that were evaluated so far. */
  decisions: z.int().min(0),
  decisions_max: z.int().min(1),
  created_at: Instant,
  finished_at: Instant.nullable(),
  /** The reason of the failure, as text. */
  failure: z.string().nullable(),
  report: WhatIfReport.nullable(),
});
export type WhatIfJob = z.infer<typeof WhatIfJob>;

/** An activation needs a report on at least this many of the newest decisions, or on all. */
export const reportedDecisionsMin = 1_000;

export const createWhatIf = defineRoute({
  operation: 'create-what-if',
  summary:
    'Evaluate sealed decisions again under the compiled draft, newest first, in the background. This replaces a ' +
    'report that is not finished.',
  method: 'POST',
  path: '/api/v1/workspaces/{id}/policy/what-if',
  auth: 'session',
  forward: {},
  idempotency: 'key',
  leastRole: 'member',
  right: 'policy.test',
  opensToPrograms: true,
  status: 202,
  params: OfWorkspace,
  body: z.strictObject({
    policy_hash: Digest,
    /** The start of the period, inclusive. */
    from: Instant.optional(),
    /** The end of the period, exclusive. */
    to: Instant.optional(),
    limit: z.int().min(1).max(whatIfDecisionsMax).default(reportedDecisionsMin),
  }),
  reply: WhatIfJob,
  errors: ['ILLEGAL_TRANSITION'],
});

export const getWhatIf = defineRoute({
  operation: 'get-what-if',
  summary: 'Get a what-if report and its progress.',
  method: 'GET',
  path: '/api/v1/workspaces/{id}/policy/what-if/{report_id}',
  auth: 'session',
  forward: {},
  leastRole: 'member',
  right: 'policy.test',
  opensToPrograms: true,
  params: OfWorkspace.extend({ report_id: z.string().min(1).max(128) }),
  reply: WhatIfJob,
  errors: ['NOT_FOUND'],
});

export const getActivePolicy = defineRoute({
  operation: 'get-active-policy',
  summary: 'Get the active bundle of the workspace, with its hash as ETag, and the drafts in its shadow lanes.',
  method: 'GET',
  path: '/api/v1/workspaces/{id}/policy/active',
  auth: 'session',
  forward: {},
  leastRole: 'member',
  right: 'policy.read',
  opensToPrograms: true,
  params: OfWorkspace,
  reply: z.strictObject({
    workspace_id: z.string(),
    policy_hash: Digest,
    epoch: z.int().min(1),
    /** `*` when the workspace has no policy of its own and uses that of the installation. */
    owner: z.string(),
    confirmed_at: Instant,
    bundle: PolicyBundle,
    ceilings: z.array(PolicyCeiling),
    /** The drafts that are evaluated beside the active policy, by lane. */
    shadows: z.array(PolicyShadow),
  }),
  errors: ['NOT_FOUND', 'GOVERNANCE_UNAVAILABLE'],
});

export const activatePolicy = defineRoute({
  operation: 'activate-policy',
  summary:
    'Activate the reported draft, with If-Match and the active hash. The kernel must allow this exact change. ' +
    'After a failure, repeat the request to continue.',
  method: 'POST',
  path: '/api/v1/workspaces/{id}/policy/activate',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'precondition' },
  needsPresence: true,
  leastRole: 'owner',
  right: 'policy.activate',
  params: OfWorkspace,
  body: z.strictObject({
    policy_hash: Digest,
    report_id: WhatIfId,
    /** The number of decisions that become more permissive, as stated in the report. */
    acknowledge_widened: z.int().min(0).optional(),
  }),
  reply: z.strictObject({
    policy_hash: Digest,
    epoch: z.int().min(1),
    report_hash: Digest,
    decision_id: DecisionId,
    decision_receipt_id: ReceiptId,
    /** The receipt of the kind `policy`. */
    policy_receipt_id: ReceiptId,
  }),
  errors: [
    'NOT_FOUND',
    'PRECONDITION_REQUIRED',
    'PRECONDITION_FAILED',
    'GATE_NOT_PASSED',
    'POLICY_DENIED',
    'APPROVAL_NEEDED',
    'GOVERNANCE_UNAVAILABLE',
  ],
});
