import { chmodSync, chownSync, mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import type { StartedSystem } from '@countersign/local';
import { onFailure } from './_evidence.ts';

/** A system that other files use too. It is never stopped, and each test stays within its own people and workspaces. */
export type SharedSystem = Omit<StartedSystem, 'lines' | 'stop' | 'kill'> & { dataDir: string };

/**
 * The system of this worker. The first file that needs it starts it. Rate limits are off. `filesDir` is a folder for
 * this caller alone.
 */
export async function sharedSystem(): Promise<SharedSystem> {
  const path = `/system/${worker()}`;
  const system = (await sharedPart(path)) as SharedSystem;
  onFailure(async (name) => {
    const { lines } = (await sharedPart(`${path}/log`)) as { lines: string[] };
    writeFileSync(`${name}.log`, lines.join('\n'));
  });
  return { ...system, filesDir: ownFolderIn(system.filesDir) };
}

/** A folder with the owner and the mode of `folder`. The MCP server of files works there under its own account. */
function ownFolderIn(folder: string): string {
  const own = mkdtempSync(join(folder, 'test-'));
  const { uid, gid, mode } = statSync(folder);
  chmodSync(own, mode);
  chownSync(own, uid, gid);
  return own;
}

/** The address of this worker's Chromium for `chromium.connect`. */
export async function chromiumEndpoint(): Promise<string> {
  return ((await sharedPart(`/browser/${worker()}`)) as { wsEndpoint: string }).wsEndpoint;
}

const worker = () => process.env['JEST_WORKER_ID'] ?? '1';

/** The folder of a stopped, migrated PostgreSQL cluster. */
export async function clusterTemplate(): Promise<string> {
  return ((await sharedPart('/cluster')) as { path: string }).path;
}

/** Requests a part from the process that runs Jest: tests/runner/shared-parts.mjs. */
async function sharedPart(path: string): Promise<unknown> {
  const socketPath = process.env['COUNTERSIGN_TEST_PARTS'];
  if (socketPath === undefined) throw new Error('Run it through `make test` or tests/runner/run-tests.mjs');
  const { status, text } = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const asking = request({ socketPath, path, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.once('end', () => resolve({ status: answer.statusCode, text }));
    });
    asking.once('error', reject).end();
  });
  if (status !== 200) throw new Error(`The shared part ${path} could not be started: ${text}`);
  return JSON.parse(text);
}
