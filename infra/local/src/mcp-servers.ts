import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { isList } from '@countersign/contracts';

/**
 * The filesystem server of the Model Context Protocol project, for one folder. Its annotations declare which tools only
 * read. For writing tools they know only "destructive", so this profile declares how far each can be undone.
 */
export function filesystemServer(folder: string) {
  return {
    server_id: 'files',
    transport: 'stdio',
    command: process.execPath,
    args: [serverScript(), folder],
    trust_annotations: true,
    tools: {
      // Each edit returns the difference between the old and the new text, so the edit can be reverted.
      edit_file: { effect_level: 'E2' },
      // Overwrites a file without a copy.
      write_file: { effect_level: 'E3' },
      move_file: { effect_level: 'E3' },
    },
  };
}

/**
 * GOV_MCP_SERVERS with the shipped server before the user's servers, in any accepted format. An unreadable value is
 * passed on unchanged, and the kernel reports the fault.
 */
export function withShippedServer(folder: string, input: string | undefined): string {
  const shipped = filesystemServer(folder);
  if (!input) return JSON.stringify({ servers: [shipped] });
  const document = documentOf(input);
  if (document === null) return input;
  const { servers = [], ...rest } = document;
  // VS Code writes a map of servers as `servers`, which is moved to `mcpServers`.
  if (isList(servers)) return JSON.stringify({ ...rest, servers: [shipped, ...servers] });
  return 'mcpServers' in rest ? input : JSON.stringify({ ...rest, servers: [shipped], mcpServers: servers });
}

function documentOf(input: string): Record<string, unknown> | null {
  try {
    const text = input.trimStart().startsWith('{') ? input : readFileSync(input, 'utf8');
    const document: unknown = JSON.parse(text);
    const isObject = typeof document === 'object' && document !== null && !Array.isArray(document);
    return isObject ? { ...document } : null;
  } catch {
    return null;
  }
}

/** The script of the shipped server. */
export function serverScript(): string {
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/package.json');
  return join(dirname(manifest), 'dist', 'index.js');
}
