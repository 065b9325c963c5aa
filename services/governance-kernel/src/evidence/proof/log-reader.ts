import { nodeHash, type CryptoProvider, type NodeReader } from '@countersign/crypto';
import { receiptLeaf } from '@countersign/receipts';
import type { LogLeaf, LogNode, NodeKey } from '../../store/log-store.ts';
import { batched } from './batched.ts';
import { storedLevelMin } from '../../ledger/log-tree.ts';

type LogSource = {
  listNodes(keys: NodeKey[]): Promise<LogNode[]>;
  /** Leaves of runs of `width` leaves. `starts` contains the index of the first leaf of each run. */
  listLeaves(starts: number[], width: number): Promise<LogLeaf[]>;
};

/** The ledger lacks entries that its log contains: rows were removed, or never written. */
class LogIncomplete extends Error {
  override readonly name = 'LogIncomplete';
}

/** Returns `null` instead of throwing LogIncomplete, for verifications that report it. */
export async function unlessIncomplete<Value>(reading: Promise<Value>): Promise<Value | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof LogIncomplete) return null;
    throw error;
  }
}

/** The number of leaves under the smallest stored node. */
const tileLeaves = 2 ** storedLevelMin;

/**
 * Reads the log's tree for proofs: stored nodes from their table, smaller ones recomputed from the receipt hashes of
 * the ledger. A reader serves one answer, and never reads a tile or node twice.
 */
export function createLogReader(provider: CryptoProvider, source: LogSource): NodeReader {
  const storedNode = batched(async (keys) => {
    const nodes = await source.listNodes(keys.map(parseNodeName));
    return new Map(nodes.map((node) => [nodeName(node), node.hash]));
  });
  const tile = batched(async (keys) => tilesOf(provider, await source.listLeaves(keys.map(Number), tileLeaves)));
  return async (level, index) => {
    if (level >= storedLevelMin) return found(await storedNode(nodeName({ level, index })));
    const first = index * 2 ** level;
    const start = first - (first % tileLeaves);
    const leaves = found(await tile(String(start)));
    return rootOfLeaves(provider, leaves.slice(first - start, first - start + 2 ** level), 2 ** level);
  };
}

function found<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new LogIncomplete('the log lacks a node');
  return value;
}

function nodeName({ level, index }: NodeKey): string {
  return `${level}:${index}`;
}

function parseNodeName(name: string): NodeKey {
  const [level = 0, index = 0] = name.split(':').map(Number);
  return { level, index };
}

/** Leaf hashes by the first index of their tile. The last tile of the log may be short. */
function tilesOf(provider: CryptoProvider, leaves: LogLeaf[]): Map<string, Uint8Array[]> {
  const tiles = new Map<string, Uint8Array[]>();
  for (const { index, receiptHash } of leaves) {
    const start = String(index - (index % tileLeaves));
    const tile = tiles.get(start) ?? [];
    tile.push(receiptLeaf(provider, receiptHash));
    tiles.set(start, tile);
  }
  return tiles;
}

/**
 * The root of a perfect subtree. Throws LogIncomplete when a leaf is missing, which would shift its neighbours.
 */
function rootOfLeaves(provider: CryptoProvider, leaves: readonly Uint8Array[], count: number): Uint8Array {
  if (leaves.length !== count) throw new LogIncomplete('the ledger lacks leaves of its own log');
  let row = [...leaves];
  while (row.length > 1) {
    const pairs = row;
    row = Array.from({ length: pairs.length / 2 }, (_, at) => parentOf(provider, pairs, at));
  }
  const [root] = row;
  if (root === undefined) throw new Error('The subtree has no leaves');
  return root;
}

function parentOf(provider: CryptoProvider, row: readonly Uint8Array[], at: number): Uint8Array {
  const [left, right] = row.slice(at * 2, at * 2 + 2);
  if (left === undefined || right === undefined) throw new Error('The subtree has a node without a sibling');
  return nodeHash(provider, left, right);
}
