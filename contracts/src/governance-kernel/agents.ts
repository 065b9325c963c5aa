import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { Instant, PrincipalId } from '../scalars.ts';
import { Fence } from './fences.ts';
import { IdentityState } from './identity.ts';

/** The most agents of one answer: those with the most calls of seven days. */
export const shownAgentsMax = 200;

/** Calls by decision, counted from the log. Trials of `shadow` are not calls. */
const CallCounts = z.strictObject({
  allowed: z.int().nonnegative(),
  denied: z.int().nonnegative(),
  needed_approval: z.int().nonnegative(),
});
export type CallCounts = z.infer<typeof CallCounts>;

/** A program that is enrolled, has a key, or has made a call within seven days. */
export const Agent = z.strictObject({
  principal_id: PrincipalId,
  /** `null` when the agent is not enrolled. */
  display_name: z.string().nullable(),
  /** `slowed` and `stopped` refer to a stop of this agent. Stops of the whole workspace are not included. */
  state: z.enum([...IdentityState.options, 'slowed', 'stopped']),
  /** `null` when no stop of this one agent is in force. */
  stop: Fence.nullable(),
  /** `null` when the agent is not enrolled. */
  enrolled_at: Instant.nullable(),
  enrolled_by: PrincipalId.nullable(),
  /** Access keys that can be used now. */
  live_keys: z.int().nonnegative(),
  /** The newest decision, trials included. `null` when there is none. */
  last_call_at: Instant.nullable(),
  /** The last 24 hours, in whole half hours. */
  day: CallCounts,
  /** Today and the six days before it (UTC). */
  week: CallCounts,
  pending_approvals: z.int().nonnegative(),
});
export type Agent = z.infer<typeof Agent>;

const Counted = {
  /** `null` when all of the log is counted. Otherwise decisions that were issued later are missing in the numbers. */
  complete_to: Instant.nullable(),
};

const read = {
  method: 'GET',
  auth: 'tenant_scoped',
  forward: { opensTo: 'member', right: 'evidence.read' },
  assertedBy: ['member', 'partner', 'owner'],
  query: z.strictObject({ tenant_id: z.string().optional() }),
} as const;

export const listSeenAgents = defineRoute({
  ...read,
  operation: 'list-seen-agents',
  summary: 'List agents that are enrolled, have a key or made a call within seven days, busiest first.',
  path: '/api/v1/agents',
  reply: z.strictObject({
    ...Counted,
    data: z.array(Agent).max(shownAgentsMax),
    /** True when there are further agents. */
    has_more: z.boolean(),
  }),
});

/** Outcomes of the approvals that were requested within seven days. */
const RequestedApprovals = z.strictObject({
  requested: z.int().nonnegative(),
  /** Approved requests, including those whose approval was used. */
  approved: z.int().nonnegative(),
  denied: z.int().nonnegative(),
  expired: z.int().nonnegative(),
});

export const getSeenAgent = defineRoute({
  ...read,
  operation: 'get-seen-agent',
  summary: 'Get an agent with the results of the approvals that it requested within seven days.',
  path: '/api/v1/agents/{principal}',
  params: z.strictObject({ principal: PrincipalId }),
  reply: z.strictObject({ ...Counted, ...Agent.shape, approvals: RequestedApprovals }),
  errors: ['NOT_FOUND'],
});
export type AgentProfile = z.infer<typeof getSeenAgent.reply>;
