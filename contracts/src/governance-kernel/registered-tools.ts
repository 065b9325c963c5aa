import { z } from 'zod';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { Digest, EffectLevel, Instant, PlainObject, TenantId } from '../scalars.ts';

/** The definition that a server sent, in the registry's format. It is attacker-controlled. */
const ToolDefinition = PlainObject;

/** A longer definition is told by its hash alone, so that a page of them stays small. */
export const toldDefinitionBytesMax = 32_768;

export const RegisteredTool = z.strictObject({
  /** `server.tool`, by which it is called. */
  tool: z.string(),
  server_id: z.string(),
  server_state: z.enum(['discovered', 'quarantined', 'approved', 'revoked', 'expired']),
  /**
   * `drifted`: its server shows something else than what was pinned. `unpinned`: it came later, and is not approved.
   * Neither is called.
   */
  pin: z.enum(['in_sync', 'drifted', 'unpinned']),
  /** The effect that the annotations of the definition declare. */
  annotated_effect: EffectLevel,
  /**
   * The effect by which calls of it are decided, unless the caller declares a higher one. It follows from the
   * operator's `tools`, trusted annotations, and the policy.
   */
  effect_level: EffectLevel,
  pinned_hash: Digest.nullable(),
  observed_hash: Digest,
  /** The pinned one; of a tool without a pin the one that was seen last. Null where it is too long to be told. */
  definition: ToolDefinition.nullable(),
  /**
   * Present for a drifted tool: the last definition that its server showed. `null` for others, and when it is too long.
   * Null for others, and where it is too long to be told.
   */
  observed_definition: ToolDefinition.nullable(),
  /** The workspace refuses it to its agents, whatever the rules say; told by the kernel, which hears of a change before the next call. */
  blocked: z.boolean(),
});
export type RegisteredTool = z.infer<typeof RegisteredTool>;

/** The name of a tool is part of the cursor. */
const cursorLengthMax = 2_048;

export const ToolPageQuery = { ...PageQuery, cursor: z.string().min(1).max(cursorLengthMax).optional() };

export const listRegisteredTools = defineRoute({
  operation: 'list-registered-tools',
  summary: 'Every tool that a server of this kernel has shown, by name, with its pin and what was seen since.',
  method: 'GET',
  path: '/api/v1/mcp/tools',
  auth: 'tenant_scoped',
  assertedBy: ['member', 'partner', 'owner'],
  query: z.strictObject({ tenant_id: z.string().optional(), ...ToolPageQuery }),
  reply: page(RegisteredTool),
});

const DriftedTool = RegisteredTool.pick({ tool: true, server_id: true, observed_hash: true }).extend({
  /** The owner of the server. `null`: the installation, so that the tool concerns every tenant. */
  tenant_id: TenantId.nullable(),
  pinned_hash: Digest,
  /** Since when its server shows that. */
  drifted_at: Instant,
});
export type DriftedTool = z.infer<typeof DriftedTool>;

/** A tenant's server with more drifted tools than this is reported by the first of them. */
export const driftsPerServerMax = 20;

export const listDriftedTools = defineRoute({
  operation: 'list-drifted-tools',
  summary:
    'Tools of approved servers whose definitions are not the pinned ones, by owner, server and name, after the servers were asked what they show now. ' +
    'No call of one is sent.',
  method: 'GET',
  path: '/internal/mcp/drifts',
  auth: 'service_internal',
  query: z.strictObject(ToolPageQuery),
  reply: page(DriftedTool),
});
