import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * The filesystem server of the Model Context Protocol project, on one folder. Reading tools say themselves that they only read; for
 * the writing ones this profile says how far they can be undone, because their own annotations know only "destructive".
 */
export function filesystemServer(folder: string) {
  return {
    server_id: 'files',
    transport: 'stdio',
    command: process.execPath,
    args: [serverScript(), folder],
    trust_annotations: true,
    tools: {
      // Answers with the difference, which undoes it.
      edit_file: { effect_level: 'E2' },
      // Overwrites without a copy.
      write_file: { effect_level: 'E3' },
      move_file: { effect_level: 'E3' },
    },
  };
}

/**
 * GOV_MCP_SERVERS with the shipped server in front of those of the person who starts it, whatever form they have. An
 * unreadable value is passed on unchanged: the kernel reports its fault.
 */
export function withShippedServer(folder: string, given: string | undefined): string {
  const shipped = filesystemServer(folder);
  if (!given) return JSON.stringify({ servers: [shipped] });
  const document = documentOf(given);
  if (document === null) return given;
  const { servers = [], ...rest } = document;
  // A map of servers, as VS Code writes it, has the place of `mcpServers`.
  if (Array.isArray(servers)) return JSON.stringify({ ...rest, servers: [shipped, ...(servers as unknown[])] });
  return 'mcpServers' in rest ? given : JSON.stringify({ ...rest, servers: [shipped], mcpServers: servers });
}

function documentOf(given: string): Record<string, unknown> | null {
  try {
    const text = given.trimStart().startsWith('{') ? given : readFileSync(given, 'utf8');
    const document: unknown = JSON.parse(text);
    const isObject = typeof document === 'object' && document !== null && !Array.isArray(document);
    return isObject ? { ...document } : null;
  } catch {
    return null;
  }
}

/** The entry of the shipped server. */
export function serverScript(): string {
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/package.json');
  return join(dirname(manifest), 'dist', 'index.js');
}
