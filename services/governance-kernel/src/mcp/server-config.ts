import { readFileSync } from 'node:fs';
import { EffectLevel } from '@countersign/contracts';
import { z } from 'zod';

/** No dot and no double underscore: `server.tool` and `server__tool` then split in one way only. */
const ServerId = z
  .string()
  .max(63)
  .regex(/^[a-z0-9](?:[a-z0-9-]|_(?!_))*$/, 'may hold lower-case letters, digits, - and single _')
  .refine((id) => !id.endsWith('_') && id !== 'countersign', 'is reserved');

const Overrides = z.record(z.string(), z.strictObject({ effect_level: EffectLevel })).default({});

const StdioServer = z.strictObject({
  server_id: ServerId,
  transport: z.literal('stdio'),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  /** All that the child gets beside PATH and a home of its own. */
  env: z.record(z.string(), z.string()).default({}),
  cwd: z.string().min(1).optional(),
  tools: Overrides,
});

const HttpServer = z.strictObject({
  server_id: ServerId,
  transport: z.literal('http'),
  url: z.url({ protocol: /^https?$/ }),
  headers: z.record(z.string(), z.string()).default({}),
  tools: Overrides,
});

export const McpServerConfig = z.discriminatedUnion('transport', [StdioServer, HttpServer]);
export type McpServerConfig = z.infer<typeof McpServerConfig>;

const McpServers = z
  .strictObject({ servers: z.array(McpServerConfig).max(100) })
  .refine(
    ({ servers }) => new Set(servers.map(({ server_id }) => server_id)).size === servers.length,
    'server_id must be unique',
  );

/** GOV_MCP_SERVERS: JSON itself, or the path of a file that holds it. Throws when it is neither. */
export function readMcpServers(value: string): McpServerConfig[] {
  const text = value.trimStart().startsWith('{') ? value : readFileSync(value, 'utf8');
  return McpServers.parse(JSON.parse(text)).servers;
}

/**
 * What the registry keeps of a declaration: no values of the environment, of headers, of arguments or behind the path of an address.
 * All of them may hold secrets, and hosted servers take theirs as `?api_key=`.
 */
export function describeDeclaration(config: McpServerConfig): Record<string, unknown> {
  if (config.transport === 'stdio') return { command: config.command, env: Object.keys(config.env) };
  const { origin, pathname } = new URL(config.url);
  return { url: `${origin}${pathname}`, headers: Object.keys(config.headers) };
}
