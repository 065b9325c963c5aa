import { createHash } from 'node:crypto';
import { WorkspaceId } from '@countersign/contracts';
import { listDriftedTools, type DriftedTool } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { reportSighting, type Seen } from './report-sighting.ts';
import { shownText } from './shown-text.ts';
import { tellEveryWorkspace, type ToldPlaces } from './tell-every-workspace.ts';

const pageTools = 200;
/** Tools on further pages are read in a later pass, once some tools on these pages were approved or revoked. */
const pagesMax = 50;

type Looking = Pick<Context, 'kernel' | 'database' | 'transaction' | 'newEvent' | 'now'>;

/**
 * Reports tools whose servers list a definition that differs from the approved one. A server of the installation
 * concerns every workspace.
 */
export async function watchDrift(context: Looking, places: ToldPlaces): Promise<void> {
  const client = context.kernel.own({ listDriftedTools });
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const query = { limit: pageTools, ...(cursor === undefined ? {} : { cursor }) };
    const { data, next_cursor: next } = (await client.listDriftedTools({ query })).body;
    for (const tool of data) await tellOwner(context, places, tool);
    if (next === null) return;
    cursor = next;
  }
}

async function tellOwner(context: Looking, places: ToldPlaces, tool: DriftedTool): Promise<void> {
  if (tool.tenant_id === null) return await tellEveryWorkspace(context, places, seenOf(tool));
  const workspaceId = WorkspaceId.safeParse(tool.tenant_id);
  // Other tenants of the kernel have no workspace here.
  if (!workspaceId.success) return;
  const seen = seenOf(tool);
  const key = `${workspaceId.data} ${seen.dedupKey} ${seen.sighting}`;
  if (places.of(key) !== '') return;
  await reportSighting(context, workspaceId.data, seen);
  places.note(key, workspaceId.data);
}

function seenOf({ tool, pinned_hash, observed_hash, drifted_at }: DriftedTool): Seen {
  return {
    title: `The definition of ${shownText(tool, shownLettersMax)} changed`,
    ...{ severity: 'high', category: 'drift', receipts: [] },
    note: `Its server has listed the definition ${observed_hash} since ${drifted_at}. The approved definition is ${pinned_hash}. The kernel denies every call of this tool.`,
    dedupKey: keyOf(tool),
    sighting: `${observed_hash} ${drifted_at}`,
  };
}

const shownLettersMax = 100;

const keyLettersMax = 200;

function keyOf(tool: string): string {
  const name = encodeURIComponent(tool);
  const isShort = name.length <= keyLettersMax;
  return `drift:${isShort ? name : createHash('sha256').update(tool).digest('hex')}`;
}
