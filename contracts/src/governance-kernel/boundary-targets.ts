import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { PrincipalId } from '../scalars.ts';

/** The most names of each kind. Names with the most calls are listed. */
export const shownTargetsMax = 500;

/** Decisions of the last seven days, shadow decisions included. */
const Calls = z.int().min(0);

/** The possible targets of a stop: all agents, tools and servers that are enrolled, registered or had a call. */
export const BoundaryTargets = z.strictObject({
  agents: z.array(z.strictObject({ principal_id: PrincipalId, calls_last_7d: Calls })).max(shownTargetsMax),
  tools: z.array(z.strictObject({ tool: z.string(), calls_last_7d: Calls })).max(shownTargetsMax),
  /** MCP servers. Their calls are those of their tools. */
  servers: z.array(z.strictObject({ server_id: z.string(), calls_last_7d: Calls })).max(shownTargetsMax),
  calls_last_7d: Calls,
  /** `false` when there are further names, or more calls than one answer counts. */
  is_whole: z.boolean(),
});
export type BoundaryTargets = z.infer<typeof BoundaryTargets>;

export const listBoundaryTargets = defineRoute({
  operation: 'list-boundary-targets',
  summary: 'List the agents, tools and servers of the tenant, with their calls of the last seven days.',
  method: 'GET',
  path: '/api/v1/boundary/targets',
  auth: 'tenant_scoped',
  assertedBy: ['member', 'partner', 'owner'],
  query: z.strictObject({ tenant_id: z.string().optional() }),
  reply: BoundaryTargets,
});
