import { isAbsolute } from 'node:path';
import { EffectLevel } from '@countersign/contracts';
import { McpServerId } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';

/** A child starts in a folder of its own, so a path from ours would lead elsewhere. */
const command = z
  .string()
  .min(1)
  .refine(
    (value) => !/[/\\]/.test(value) || isAbsolute(value),
    'is a relative path; write the whole path, or a name to be found in PATH',
  );
const cwd = z
  .string()
  .min(1)
  .refine((value) => isAbsolute(value), 'is a relative path; write the whole path');

/** The members of a server over stdio, whatever form it is declared in. */
export const stdioMembers = {
  command,
  args: z.array(z.string()).default([]),
  /** All that the child gets beside PATH and a home of its own. */
  env: z.record(z.string(), z.string()).default({}),
  cwd: cwd.optional(),
  tools: z.record(z.string(), z.strictObject({ effect_level: EffectLevel })).default({}),
  /** The operator takes the server's annotations for true: they say what `tools` does not. */
  trust_annotations: z.boolean().default(false),
};

/** The members of a server over streamable HTTP. */
export const httpMembers = {
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }),
  headers: z.record(z.string(), z.string()).default({}),
  tools: stdioMembers.tools,
  trust_annotations: stdioMembers.trust_annotations,
};

export const McpServerConfig = z.discriminatedUnion('transport', [
  z.strictObject({ server_id: McpServerId, transport: z.literal('stdio'), ...stdioMembers }),
  z.strictObject({ server_id: McpServerId, transport: z.literal('http'), ...httpMembers }),
]);
export type McpServerConfig = z.infer<typeof McpServerConfig>;

/**
 * What the registry keeps of a declaration: no values of the environment, of headers, of arguments or behind the path of an address.
 * All of them may hold secrets, and hosted servers take theirs as `?api_key=`.
 */
export function describeDeclaration(config: McpServerConfig): Record<string, unknown> {
  if (config.transport === 'stdio') return { command: config.command, env: Object.keys(config.env) };
  const { origin, pathname } = new URL(config.url);
  return { url: `${origin}${pathname}`, headers: Object.keys(config.headers) };
}
