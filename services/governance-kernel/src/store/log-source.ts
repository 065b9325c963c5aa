import { listCheckpointsAbove } from './checkpoint-store.ts';
import type { Reader } from './database.ts';
import { getLogReach, listLogLeaves, listLogNodes, type LogLeaf, type LogNode, type NodeKey } from './log-store.ts';
import { listSealed, type LogRange, type SealedScope } from './receipt-store.ts';

/** The tables of the log's tree, in the form that a node reader needs. */
export function logSource(reader: Reader) {
  return {
    listNodes: (keys: NodeKey[]): Promise<LogNode[]> => listLogNodes(reader, keys),
    listLeaves: (starts: number[], width: number): Promise<LogLeaf[]> => listLogLeaves(reader, starts, width),
  };
}

/** The tables of the tail, in the form that a log watch needs. */
export function logView(reader: Reader) {
  return {
    getReach: () => getLogReach(reader),
    listSealed: (scope: SealedScope, range: LogRange) => listSealed(reader, scope, range),
    listCheckpointsAbove: (size: number, limit: number) => listCheckpointsAbove(reader, size, limit),
  };
}
