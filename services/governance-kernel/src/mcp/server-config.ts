import { isAbsolute } from 'node:path';
import { EffectLevel } from '@countersign/contracts';
import { McpServerId, SandboxTerms } from '@countersign/contracts/governance-kernel';
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

/** Lower limits than those of the kernel, for this server. */
const limits = z
  .strictObject({
    call_timeout_ms: z.int().min(100).max(3_600_000).optional(),
    concurrent_calls: z.int().min(1).max(1_024).optional(),
  })
  .optional();

/** The members of a server over stdio, whatever form it is declared in. */
export const stdioMembers = {
  command,
  args: z.array(z.string()).default([]),
  /** All that the child gets beside PATH and a home of its own. */
  env: z.record(z.string(), z.string()).default({}),
  cwd: cwd.optional(),
  tools: z.record(z.string(), z.strictObject({ effect_level: EffectLevel })).default({}),
  limits,
  /** It runs under these terms or not at all. Without `env`, it receives every variable of `env` above. */
  sandbox: SandboxTerms.extend({ env: SandboxTerms.shape.env.unwrap().optional() }).optional(),
  /** The operator takes the server's annotations for true: they say what `tools` does not. */
  trust_annotations: z.boolean().default(false),
};

const OauthBase = {
  /** Stated here and never discovered: a server must not choose where its client's secret is sent. */
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

/** The same server, in a sandbox with a folder of its own where the configuration names none. */
export function inSandbox(config: McpServerConfig): McpServerConfig {
  if (config.transport === 'http' || config.sandbox !== undefined) return config;
  return { ...config, sandbox: SandboxTerms.omit({ env: true }).parse({}) };
}

/** The terms that the configuration itself sets. `null` when it sets none. */
export function configuredTerms(config: McpServerConfig): SandboxTerms | null {
  if (config.transport !== 'stdio' || config.sandbox === undefined) return null;
  return { ...config.sandbox, env: config.sandbox.env ?? Object.keys(config.env).sort() };
}

/**
 * The parts of a declaration that the registry keeps: no values of the environment, of headers, of arguments or behind
 * the path of an address. All of them may hold secrets, and hosted servers take theirs as `?api_key=`.
 */
export function describeDeclaration(config: McpServerConfig): Record<string, unknown> {
  if (config.transport === 'stdio') {
    const { command: program, env } = config;
    const sandbox = configuredTerms(config);
    return { command: program, env: Object.keys(env), ...(sandbox === null ? {} : { sandbox }) };
  }
  const { origin, pathname } = new URL(config.url);
  const { oauth: credentials } = config;
  return {
    ...{ url: `${origin}${pathname}`, headers: Object.keys(config.headers) },
    ...(credentials === undefined ? {} : { oauth: describeOauth(credentials) }),
  };
}

function describeOauth({ grant, client_id, token_url: tokenUrl, scope }: UpstreamOauth): Record<string, unknown> {
  const { origin, pathname } = new URL(tokenUrl);
  return { grant, client_id, token_url: `${origin}${pathname}`, ...(scope === undefined ? {} : { scope }) };
}
