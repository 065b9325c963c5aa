import { McpServerId } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import { httpMembers, stdioMembers, type McpServerConfig } from './server-config.ts';

/** Names that clients use for streamable HTTP. */
const httpTypes = ['http', 'streamable-http', 'streamableHttp', 'streamable_http'] as const;

const Stdio = z
  .strictObject({ type: z.literal('stdio').optional(), ...stdioMembers })
  .transform(({ type: _type, ...rest }) => ({ transport: 'stdio' as const, ...rest }));
const Http = z
  .strictObject({ type: z.enum(httpTypes).optional(), ...httpMembers })
  .transform(({ type: _type, ...rest }) => ({ transport: 'http' as const, ...rest }));

/**
 * Servers by name, in the formats of existing clients: Claude Desktop, Cursor and Claude Code under `mcpServers`, VS
 * Code under `servers`. Unsupported features of these clients are refused with an explanation.
 */
export const ClientServers = z.record(z.string(), z.unknown()).transform((servers, context): McpServerConfig[] =>
  Object.entries(servers).flatMap(([name, entry]) => {
    const problems = problemsOf(name, entry);
    const parsed = shapeOf(entry).safeParse(entry);
    if (problems.length === 0 && parsed.success) return [{ server_id: name, ...parsed.data }];
    for (const { path, message } of problems.length > 0 ? problems : (parsed.error?.issues ?? []))
      context.addIssue({ code: 'custom', path: [name, ...path], message });
    return [];
  }),
);

type Problem = { path: PropertyKey[]; message: string };

/** The type determines the form. Without a type, an entry with `url` is an HTTP server. */
function shapeOf(entry: unknown): typeof Stdio | typeof Http {
  if (typeof entry !== 'object' || entry === null) return Stdio;
  const isHttp = 'type' in entry ? entry.type !== 'stdio' : 'url' in entry;
  return isHttp ? Http : Stdio;
}

function problemsOf(name: string, entry: unknown): Problem[] {
  const problems: Problem[] = [];
  const id = McpServerId.safeParse(name);
  if (!id.success) problems.push({ path: [], message: `the name ${id.error.issues[0]?.message}${suggestion(name)}` });
  if (typeof entry === 'object' && entry !== null && 'type' in entry && entry.type === 'sse')
    problems.push({
      path: ['type'],
      message:
        'the transport "sse" ended with the protocol of 2024; use the streamable HTTP address of the server, with the type "http"',
    });
  return [...problems, ...unreplaced(entry, [])];
}

/** A similar name that is valid, if there is one. */
function suggestion(name: string): string {
  const fitting = fittingId(name);
  return fitting === null ? '' : `; write "${fitting}"`;
}

/** The name in lower case, with a dash for each run of other characters. `null` when nothing is left. */
export function fittingId(name: string): string | null {
  const fitting = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 63);
  return McpServerId.safeParse(fitting).data ?? null;
}

/** Placeholders are not replaced here, so they would be sent to the server literally. */
function unreplaced(value: unknown, path: PropertyKey[]): Problem[] {
  if (typeof value === 'string') {
    if (value.includes('${')) return [{ path, message: 'holds ${…}, which is not replaced here; write the value' }];
    return /^~(\/|$)/.test(value)
      ? [{ path, message: 'begins with ~, which is not replaced here; write the whole path' }]
      : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => unreplaced(member, [...path, name]));
}
