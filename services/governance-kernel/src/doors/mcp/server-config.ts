import { isAbsolute } from 'node:path';
import { EffectLevel } from '@countersign/contracts';
import { McpServerId, SandboxTerms } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';

/** A child starts in its own folder, so a relative path would resolve elsewhere. */
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

/** Limits for this server, instead of those of the kernel. A longer time limit than the kernel's has no effect. */
const limits = z
  .strictObject({
    call_timeout_ms: z.int().min(100).max(3_600_000).optional(),
    concurrent_calls: z.int().min(1).max(1_024).optional(),
  })
  .optional();

/** The members of a server over stdio, in every format. */
export const stdioMembers = {
  command,
  args: z.array(z.string()).default([]),
  /** The child's environment in addition to PATH and a home folder. */
  env: z.record(z.string(), z.string()).default({}),
  cwd: cwd.optional(),
  tools: z.record(z.string(), z.strictObject({ effect_level: EffectLevel })).default({}),
  limits,
  /**
   * The server runs under these terms or not at all. If these terms have no `env`, the server receives every variable
   * of the `env` above.
   */
  sandbox: SandboxTerms.extend({ env: SandboxTerms.shape.env.unwrap().optional() }).optional(),
  /** Whether the operator trusts the server's annotations for tools whose effect `tools` does not declare. */
  trust_annotations: z.boolean().default(false),
};

const OauthBase = {
  /** Configured and never discovered, since a server must not choose where its client's secret is sent. */
  token_url: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }),
  client_id: z.string().min(1).max(512),
  auth_method: z.enum(['client_secret_basic', 'client_secret_post']).default('client_secret_basic'),
  scope: z.string().min(1).max(1_024).optional(),
};
const secret = z.string().min(1).max(8_192);

/** How the kernel gets access tokens for a server. */
const oauth = z.discriminatedUnion('grant', [
  z.strictObject({ grant: z.literal('client_credentials'), ...OauthBase, client_secret: secret }),
  z.strictObject({
    grant: z.literal('refresh_token'),
    ...OauthBase,
    client_secret: secret.optional(),
    refresh_token: secret,
  }),
]);
export type UpstreamOauth = z.infer<typeof oauth>;

/** The members of a server over streamable HTTP. */
export const httpMembers = {
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }),
  headers: z.record(z.string(), z.string()).default({}),
  oauth: oauth.optional(),
  tools: stdioMembers.tools,
  limits,
  trust_annotations: stdioMembers.trust_annotations,
};

export const McpServerConfig = z.discriminatedUnion('transport', [
  z.strictObject({ server_id: McpServerId, transport: z.literal('stdio'), ...stdioMembers }),
  z.strictObject({ server_id: McpServerId, transport: z.literal('http'), ...httpMembers }),
]);
export type McpServerConfig = z.infer<typeof McpServerConfig>;

/** The server with its configured sandbox, or with a sandbox under the default terms. An HTTP server is unchanged. */
export function inSandbox(config: McpServerConfig): McpServerConfig {
  if (config.transport === 'http' || config.sandbox !== undefined) return config;
  return { ...config, sandbox: SandboxTerms.omit({ env: true }).parse({}) };
}

/** The terms that the configuration itself sets. `null` when it sets none. */
export function configuredTerms(config: McpServerConfig): SandboxTerms | null {
  if (config.transport !== 'stdio' || config.sandbox === undefined) return null;
  return { ...config.sandbox, env: config.sandbox.env ?? Object.keys(config.env).sort() };
}
