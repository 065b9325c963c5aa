import type pg from 'pg';
import { listCheckpointsAbove } from './checkpoint-store.ts';
import { getLogReach, listLogLeaves, listLogNodes, type LogLeaf, type LogNode, type NodeKey } from './log-store.ts';
import { listSealed, type LogRange, type SealedScope } from './receipt-store.ts';

/** The tables behind the log's tree, as a reader of nodes wants them. */
export function logSource(pool: pg.Pool) {
  return {
    listNodes: (keys: NodeKey[]): Promise<LogNode[]> => listLogNodes(pool, keys),
    listLeaves: (starts: number[], width: number): Promise<LogLeaf[]> => listLogLeaves(pool, starts, width),
  };
}

/** The tables behind the tail, as a watch of the log wants them. */
export function logView(pool: pg.Pool) {
  return {
    getReach: () => getLogReach(pool),
    listSealed: (scope: SealedScope, range: LogRange) => listSealed(pool, scope, range),
    listCheckpointsAbove: (size: number, limit: number) => listCheckpointsAbove(pool, size, limit),
  };
}
