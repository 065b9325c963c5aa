import { createHash } from 'node:crypto';
import { listDriftedTools, type DriftedTool } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { Seen } from './report-sighting.ts';
import { shownText } from './shown-text.ts';
import { tellEveryWorkspace, type ToldPlaces } from './tell-every-workspace.ts';

/** Of more at once the rest is seen in a later pass, when somebody has approved or revoked some of these. */
const toolsMax = 200;

type Looking = Pick<Context, 'kernel' | 'database' | 'transaction' | 'newEvent' | 'now'>;

/** Tools whose servers show something else than what was approved: every workspace could call them, and is denied now. */
export async function watchDrift(context: Looking, places: ToldPlaces): Promise<void> {
  const asked = context.kernel.own({ listDriftedTools });
  const { data } = (await asked.listDriftedTools({ query: { limit: toolsMax } })).body;
  for (const tool of data) await tellEveryWorkspace(context, places, seenOf(tool));
}

function seenOf({ tool, pinned_hash, observed_hash, drifted_at }: DriftedTool): Seen {
  return {
    title: `The definition of ${shownText(tool, shownLettersMax)} changed`,
    ...{ severity: 'high', category: 'drift', receipts: [] },
    note: `Its server shows ${observed_hash} since ${drifted_at}, and what was approved is ${pinned_hash}. The kernel denies every call of it.`,
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
