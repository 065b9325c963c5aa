import type { Evidence } from './evidence.ts';
import { need } from './fault.ts';
import { assertExtends, readCheckpoint } from './log.ts';
import type { JsonObject } from './strict-json.ts';

/** Takes the checkpoint of a last line. It must extend the last checkpoint of the header (11.4, 11.9). */
export function takeLastCheckpoint(evidence: Evidence, line: JsonObject): void {
  const checkpoint = readCheckpoint(String(line['checkpoint']), evidence.rules.keys);
  const path = line['consistency'] as string[]; // LogPath
  const earlier = evidence.checkpoints.at(-1);
  if (earlier === undefined) need(path.length === 0, 'CONSISTENCY_UNPROVEN', '11.4');
  else assertExtends(earlier, checkpoint, path);
  evidence.witnesses?.take(String(line['checkpoint']), checkpoint);
  evidence.checkpoints = [...evidence.checkpoints, checkpoint];
}
