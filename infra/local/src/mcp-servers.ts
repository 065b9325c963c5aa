import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * The filesystem server of the Model Context Protocol project, on one folder. Reading tools say themselves that they only read; for
 * the writing ones this profile says how far they can be undone, because their own annotations know only "destructive".
 */
export function filesystemServer(folder: string): string {
  return JSON.stringify({
    servers: [
      {
        server_id: 'files',
        transport: 'stdio',
        command: process.execPath,
        args: [serverScript(), folder],
        tools: {
          // Answers with the difference, which undoes it.
          edit_file: { effect_level: 'E2' },
          // Overwrites without a copy.
          write_file: { effect_level: 'E3' },
          move_file: { effect_level: 'E3' },
        },
      },
    ],
  });
}

function serverScript(): string {
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/package.json');
  return join(dirname(manifest), 'dist', 'index.js');
}
