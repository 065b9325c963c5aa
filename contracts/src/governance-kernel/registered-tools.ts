import { z } from 'zod';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { Digest, EffectLevel, Instant, PlainObject } from '../scalars.ts';

/** As the registry writes it: what a server sent, so attacker-controlled. */
const ToolDefinition = PlainObject;

/** A longer definition is told by its hash alone, so that a page of them stays small. */
export const toldDefinitionBytesMax = 32_768;

export const RegisteredTool = z.strictObject({
  /** `server.tool`, by which it is called. */
  tool: z.string(),
  server_id: z.string(),
  server_state: z.enum(['discovered', 'quarantined', 'approved', 'revoked', 'expired']),
  /** `drifted`: its server shows something else than what was pinned. `unpinned`: it came later, and nobody approved it. Neither is called. */
  pin: z.enum(['in_sync', 'drifted', 'unpinned']),
  /** What the annotations of the definition admit to. */
  annotated_effect: EffectLevel,
  /** What decisions take a call of it for, unless its caller says more: by the operator's `tools`, trusted annotations, and the policy. */
  effect_level: EffectLevel,
  pinned_hash: Digest.nullable(),
  observed_hash: Digest,
  /** The pinned one; of a tool without a pin the one that was seen last. Null where it is too long to be told. */
  definition: ToolDefinition.nullable(),
  /** Of a drifted tool: what its server showed last. Null for others, and where it is too long to be told. */
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
  pinned_hash: Digest,
  /** Since when its server shows that. */
  drifted_at: Instant,
});
export type DriftedTool = z.infer<typeof DriftedTool>;

export const listDriftedTools = defineRoute({
  operation: 'list-drifted-tools',
  summary:
    'Tools of approved servers whose definitions are not what was pinned, by name, after every server was asked what it shows now. No call of one is sent.',
  method: 'GET',
  path: '/internal/mcp/drifts',
  auth: 'service_internal',
  query: z.strictObject(ToolPageQuery),
  reply: page(DriftedTool),
});
