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
/** About 4 MiB. Receipts of one tenant are often neighbours, so the pages of an export read the same tiles. */
const tilesKept = 64;
const nodesKept = 4_096;

/** The nodes over one run of leaves, one row for each level. The tile at the end of the log has fewer. */
type Tile = readonly (readonly Uint8Array[])[];

/** A reader for one answer. It never reads a tile or node twice. */
export function createLogReader(provider: CryptoProvider, source: LogSource): NodeReader {
  return logReaders(provider, source)();
}

/**
 * Makes readers of the log's tree for proofs: stored nodes from their table, smaller ones recomputed from the receipt
 * hashes of the ledger. The readers share what never changes: stored nodes, and tiles that are full.
 */
export function logReaders(provider: CryptoProvider, source: LogSource): () => NodeReader {
  const [nodes, tiles] = [new Map<string, Uint8Array>(), new Map<string, Tile>()];
  return () => {
    const storedNode = batched(async (keys) => {
      const read = await source.listNodes(keys.map(parseNodeName));
      for (const node of read) keep(nodes, nodesKept, [nodeName(node), node.hash]);
      return new Map(read.map((node) => [nodeName(node), node.hash]));
    });
    const tile = batched(async (keys) => {
      const read = tilesOf(provider, await source.listLeaves(keys.map(Number), tileLeaves));
      for (const [start, rows] of read) if (rows[0]?.length === tileLeaves) keep(tiles, tilesKept, [start, rows]);
      return read;
    });
    return async (level, index) => {
      const name = nodeName({ level, index });
      if (level >= storedLevelMin) return nodes.get(name) ?? found(await storedNode(name));
      const width = tileLeaves / 2 ** level;
      const start = String(Math.floor(index / width) * tileLeaves);
      const rows = tiles.get(start) ?? found(await tile(start));
      return found(rows[level]?.[index % width]);
    };
  };
}

/** Keeps a value, and forgets the oldest one above the limit. */
function keep<Value>(values: Map<string, Value>, limit: number, [key, value]: [string, Value]): void {
  values.set(key, value);
  const [oldest] = values.keys();
  if (values.size > limit && oldest !== undefined) values.delete(oldest);
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

/** The tiles of these leaves by the index of their first leaf. Leaves after a missing one are omitted. */
function tilesOf(provider: CryptoProvider, leaves: readonly LogLeaf[]): Map<string, Tile> {
  const rows = new Map<string, Uint8Array[]>();
  for (const { index, receiptHash } of leaves) {
    const start = String(index - (index % tileLeaves));
    const row = rows.get(start) ?? [];
    if (row.length === index % tileLeaves) row.push(receiptLeaf(provider, receiptHash));
    rows.set(start, row);
  }
  return new Map(Array.from(rows, ([start, row]) => [start, tileOver(provider, row)]));
}

/** The nodes whose leaves all exist. */
function tileOver(provider: CryptoProvider, leaves: readonly Uint8Array[]): Tile {
  const tile = [leaves];
  for (let row = leaves; row.length > 1; tile.push(row)) row = parentsOf(provider, row);
  return tile;
}

function parentsOf(provider: CryptoProvider, row: readonly Uint8Array[]): Uint8Array[] {
  const parents: Uint8Array[] = [];
  for (const [at, right] of row.entries()) {
    const left = row[at - 1];
    if (at % 2 === 1 && left !== undefined) parents.push(nodeHash(provider, left, right));
  }
  return parents;
}
