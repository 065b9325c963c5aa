import { z } from 'zod';
import { PolicyRule, RuleId } from '../governance-kernel/policy-bundle.ts';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { Digest, Instant, ReceiptId, UserId, WhatIfId } from '../scalars.ts';
import { OfWorkspace } from './workspace-path.ts';

/** An epoch as text. */
export const epochPattern = /^[1-9][0-9]{0,8}$/;

/** A policy that an owner put into force in the workspace. The policy of the installation is none of its versions. */
export const PolicyVersion = z.strictObject({
  /** Rises with each activation in the workspace. */
  epoch: z.int().min(1),
  policy_hash: Digest,
  state: z.enum(['active', 'replaced']),
  /** The policy that this version replaced. */
  base_hash: Digest,
  requested_by: UserId,
  requested_at: Instant,
  /** The report that its owner saw before the activation. */
  report_id: WhatIfId,
  /** The sealed decision that allowed the activation. */
  receipt_id: ReceiptId,
});
export type PolicyVersion = z.infer<typeof PolicyVersion>;

export const listPolicyVersions = defineRoute({
  operation: 'list-policy-versions',
  summary: 'List the policies that were put into force in the workspace, newest first.',
  method: 'GET',
  path: '/api/v1/workspaces/{id}/policy/versions',
  auth: 'session',
  forward: {},
  leastRole: 'member',
  right: 'policy.read',
  opensToPrograms: true,
  params: OfWorkspace,
  query: z.strictObject({ limit: PageQuery.limit, cursor: z.string().regex(epochPattern).optional() }),
  reply: page(PolicyVersion),
});

/** A rule before and after the activation. `null` where the policy had no such rule. */
const ChangedRule = z.strictObject({
  /** The id of the rule in both bundles. */
  rule_id: RuleId,
  before: PolicyRule.nullable(),
  after: PolicyRule.nullable(),
});

/** The changes of an activation. */
export const PolicyChange = z.strictObject({
  rules: z.array(ChangedRule),
  /** Changed members of the bundle except its rules, such as `tools` or `tests`. */
  other_members: z.array(z.string()),
});
export type PolicyChange = z.infer<typeof PolicyChange>;

/** A version with its text and its changes. */
export const PolicyVersionDetails = PolicyVersion.extend({
  /** The bundle as JSON, for a new draft. `null` if the kernel no longer has it. */
  text: z.string().nullable(),
  /** The changes since the policy before. `null` if the kernel no longer has one of the two. */
  change: PolicyChange.nullable(),
});
export type PolicyVersionDetails = z.infer<typeof PolicyVersionDetails>;

export const getPolicyVersion = defineRoute({
  operation: 'get-policy-version',
  summary: 'Get a policy that was put into force, with its text and its changes since the policy before.',
  method: 'GET',
  path: '/api/v1/workspaces/{id}/policy/versions/{epoch}',
  auth: 'session',
  forward: {},
  leastRole: 'member',
  right: 'policy.read',
  opensToPrograms: true,
  params: z.strictObject({ ...OfWorkspace.shape, epoch: z.string().min(1).max(128) }),
  reply: PolicyVersionDetails,
  errors: ['NOT_FOUND', 'GOVERNANCE_UNAVAILABLE'],
});
