import { readFileSync } from 'node:fs';
import { parseStrictJson } from '@countersign/crypto';
import { z } from 'zod';
import { ClientServers } from './client-servers.ts';
import { McpServerConfig } from './server-config.ts';

const limits = { depthMax: 16, bytesMax: 1_048_576, valuesMax: 10_000 };
const serversMax = 100;

/**
 * Our own format is a list under `servers`. The format of clients is a map, under `mcpServers` or, for VS Code, under
 * `servers`.
 */
const McpServers = z
  .strictObject({ servers: z.unknown().default([]), mcpServers: ClientServers.default([]) })
  .transform(({ servers, mcpServers }, context) => {
    const listed = (Array.isArray(servers) ? z.array(McpServerConfig) : ClientServers).safeParse(servers);
    for (const { path, message } of listed.error?.issues ?? [])
      context.addIssue({ code: 'custom', path: ['servers', ...path], message });
    const all = [...(listed.data ?? []), ...mcpServers];
    const ids = all.map(({ server_id: id }) => id);
    for (const id of ids.filter((one, nth) => ids.indexOf(one) < nth))
      context.addIssue({ code: 'custom', message: `two servers are named "${id}"` });
    if (all.length > serversMax)
      context.addIssue({ code: 'custom', message: `there are more than ${serversMax} servers` });
    return all;
  });

/** Whether GOV_MCP_SERVERS is the document itself. Otherwise it is the path of its file. */
export function isInline(value: string): boolean {
  return value.trimStart().startsWith('{');
}

/** Parses GOV_MCP_SERVERS. Throws an error that names each invalid member, and no value. */
export function readMcpServers(value: string): McpServerConfig[] {
  const bytes = isInline(value) ? Buffer.from(value) : readFileSync(value);
  const parsed = McpServers.safeParse(parseStrictJson(bytes, limits));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => [path.map(String).join('.'), message]);
  throw new Error(problems.map((pieces) => pieces.filter((piece) => piece !== '').join(': ')).join('; '));
}
