import type { Evidence } from './evidence.ts';
import { need } from './fault.ts';
import { assertExtends, readCheckpoint } from './log.ts';
import type { JsonObject } from './strict-json.ts';

/** The checkpoint of a last line, which extends the last one of the header (11.4, 11.9). */
export function takeLastCheckpoint(evidence: Evidence, line: JsonObject): void {
  const checkpoint = readCheckpoint(String(line['checkpoint']), evidence.rules.keys);
  const path = line['consistency'] as string[]; // LogPath
  const earlier = evidence.checkpoints.at(-1);
  if (earlier === undefined) need(path.length === 0, 'CONSISTENCY_UNPROVEN', '11.4');
  else assertExtends(earlier, checkpoint, path);
  evidence.checkpoints = [...evidence.checkpoints, checkpoint];
}
