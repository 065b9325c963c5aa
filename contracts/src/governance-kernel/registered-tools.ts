import { z } from 'zod';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { Digest, EffectLevel, Instant, PlainObject, TenantId } from '../scalars.ts';

/** The definition that a server sent, in the registry's format. It is attacker-controlled. */
const ToolDefinition = PlainObject;

/** Longer definitions are omitted, to keep pages small. Their hash is returned. */
export const toldDefinitionBytesMax = 32_768;

export const RegisteredTool = z.strictObject({
  /** The name in calls, `server.tool`. */
  tool: z.string(),
  server_id: z.string(),
  server_state: z.enum(['discovered', 'quarantined', 'approved', 'revoked', 'expired']),
  /**
   * `drifted`: the definition differs from the pinned one. `unpinned`: the tool is new and not approved. The kernel
   * sends no calls of either.
   */
  pin: z.enum(['in_sync', 'drifted', 'unpinned']),
  /** The effect that the annotations of the definition declare. */
  annotated_effect: EffectLevel,
  /**
   * The effect used in decisions on its calls, unless the caller declares a higher one. It results from the operator's
   * `tools`, trusted annotations, and the policy.
   */
  effect_level: EffectLevel,
  pinned_hash: Digest.nullable(),
  observed_hash: Digest,
  /** The pinned definition, or the last observed one without a pin. `null` when it is too long. */
  definition: ToolDefinition.nullable(),
  /** The last definition that the server showed of a drifted tool. `null` for other tools, and when it is too long. */
  observed_definition: ToolDefinition.nullable(),
  /**
   * Whether the workspace blocks the tool for its agents, regardless of the rules. A change normally reaches the kernel
   * within a second.
   */
  blocked: z.boolean(),
});
export type RegisteredTool = z.infer<typeof RegisteredTool>;

/** The cursor contains the name of a tool. */
const cursorLengthMax = 2_048;

export const ToolPageQuery = { ...PageQuery, cursor: z.string().min(1).max(cursorLengthMax).optional() };

export const listRegisteredTools = defineRoute({
  operation: 'list-registered-tools',
  summary: "List all tools of this kernel's servers by name, with their pins and their observed changes.",
  method: 'GET',
  path: '/api/v1/mcp/tools',
  auth: 'tenant_scoped',
  assertedBy: ['member', 'partner', 'owner'],
  query: z.strictObject({ tenant_id: z.string().optional(), ...ToolPageQuery }),
  reply: page(RegisteredTool),
});

const DriftedTool = RegisteredTool.pick({ tool: true, server_id: true, observed_hash: true }).extend({
  /** The owner of the server. `null` for the installation, whose tools concern all tenants. */
  tenant_id: TenantId.nullable(),
  pinned_hash: Digest,
  /** The time of the first observation of the drift. */
  drifted_at: Instant,
});
export type DriftedTool = z.infer<typeof DriftedTool>;

/** The most drifted tools that are reported of a tenant's server. */
export const driftsPerServerMax = 20;

export const listDriftedTools = defineRoute({
  operation: 'list-drifted-tools',
  summary:
    'List the tools of approved servers that differ from their pins, by owner, server and name. The servers are ' +
    'queried first. Calls of these tools are not sent.',
  method: 'GET',
  path: '/internal/mcp/drifts',
  auth: 'service_internal',
  query: z.strictObject(ToolPageQuery),
  reply: page(DriftedTool),
});
