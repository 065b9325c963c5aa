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
  summary: 'The draft of the workspace with its ETag, or templates to begin one from under the ETag "0".',
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
    'Write the draft, under the version that was read. Whatever was compiled or reported of it is over. While the report of an owner runs ' +
    'and for 15 minutes after it, other roles are refused.',
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
    'Keep a sealed decision as a test of the draft, under the version that was read: its call is made again from its record. A record that ' +
    'does not hold what the draft reads, or whose verdict no rule of the draft gives, is refused with what is missing.',
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
    /** The results of the draft's rules are the expected ones. */
    passes: z.boolean(),
  }),
  errors: ['NOT_FOUND', 'PRECONDITION_REQUIRED', 'PRECONDITION_FAILED', 'ILLEGAL_TRANSITION', 'GOVERNANCE_UNAVAILABLE'],
});

export const PolicyDiagnostic = z.strictObject({
  severity: z.enum(['error', 'warning']),
  /** The code of the compiler; `CEILING_MISSING`; `LOCK_OUT`: no person could change the policy again. */
  code: z.string(),
  /** JSON pointer into the bundle. */
  path: z.string(),
  /** The line of the text, from 1; `null` for the whole text, and in a text of more than 64 KiB. */
  line: z.int().min(1).nullable(),
  message: z.string(),
});
export type PolicyDiagnostic = z.infer<typeof PolicyDiagnostic>;

const RuleIds = z.array(RuleId);

export const CompiledDraft = z.strictObject({
  version: z.int().min(1),
  /** Null where there are errors: nothing else goes on with such a draft. */
  policy_hash: Digest.nullable(),
  /** The members of a call that its rules read, and that records will hold. */
  read_set: z.array(z.string()),
  diagnostics: z.array(PolicyDiagnostic),
  tests: z.strictObject({ total: z.int().min(0), failed: z.int().min(0) }),
  /** Against the bundle in force. */
  diff: z.strictObject({
    base_hash: Digest.nullable(),
    added: RuleIds,
    removed: RuleIds,
    changed: RuleIds,
  }),
  /** In plain words, a sentence each. */
  summary: z.array(z.string()),
});
export type CompiledDraft = z.infer<typeof CompiledDraft>;

export const compilePolicyDraft = defineRoute({
  operation: 'compile-policy-draft',
  summary: 'Compile the draft as the kernel would, run its tests, and say what is wrong with it and what it changes.',
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
  /** Decided again so far. */
  decisions: z.int().min(0),
  decisions_max: z.int().min(1),
  created_at: Instant,
  finished_at: Instant.nullable(),
  /** In words. */
  failure: z.string().nullable(),
  report: WhatIfReport.nullable(),
});
export type WhatIfJob = z.infer<typeof WhatIfJob>;

/** An activation rests on so many of the newest decisions, or on all. */
export const reportedDecisionsMin = 1_000;

export const createWhatIf = defineRoute({
  operation: 'create-what-if',
  summary:
    'Decide sealed decisions again under the compiled draft, newest first, in the background. A report that is not finished yet gives way to this one.',
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
    /** Inclusive. */
    from: Instant.optional(),
    /** Exclusive. */
    to: Instant.optional(),
    limit: z.int().min(1).max(whatIfDecisionsMax).default(reportedDecisionsMin),
  }),
  reply: WhatIfJob,
  errors: ['ILLEGAL_TRANSITION'],
});

export const getWhatIf = defineRoute({
  operation: 'get-what-if',
  summary: 'How far a report is, and the report.',
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
  summary:
    'The bundle that the workspace is decided by, with its hash as ETag, and the drafts that are judged beside it.',
  method: 'GET',
  path: '/api/v1/workspaces/{id}/policy/active',
  auth: 'session',
  forward: {},
  leastRole: 'member',
  right: 'policy.read',
  params: OfWorkspace,
  reply: z.strictObject({
    workspace_id: z.string(),
    policy_hash: Digest,
    epoch: z.int().min(1),
    /** `*`: it is the installation's, since the workspace has none of its own. */
    owner: z.string(),
    confirmed_at: Instant,
    bundle: PolicyBundle,
    ceilings: z.array(PolicyCeiling),
    /** The drafts that are judged beside it, by lane. */
    shadows: z.array(PolicyShadow),
  }),
  errors: ['NOT_FOUND', 'GOVERNANCE_UNAVAILABLE'],
});

export const activatePolicy = defineRoute({
  operation: 'activate-policy',
  summary:
    'Put the reported draft into force, under If-Match with the hash in force: once the gate is passed and the kernel has allowed this very change. ' +
    'After a failure the same request goes on where it stopped.',
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
    /** How many decisions become more permissive, as the report says. */
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
