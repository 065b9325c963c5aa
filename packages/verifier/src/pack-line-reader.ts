import { PackReceipt } from '@countersign/contracts/governance-kernel';
import { CryptoError, utf8Text } from '@countersign/crypto';
import { CanonicalCursor, type Range } from './canonical-cursor.ts';
import { canonicalReader } from './canonical-reader.ts';
import { packBuilders } from './pack-shapes.ts';

/** Canonical texts of a receipt and its record, as the line contains them. */
export type LineTexts = {
  /** Payload and signature. */
  receipt: string;
  payload: string;
  /** The record without its hash. `null` when the line has no record. */
  record: string | null;
};

/** A line with one receipt. */
export type ReadLine = { value: PackReceipt; texts: LineTexts };

/** The members whose ranges the texts need. The record follows its receipt, so the last `record_hash` is its own. */
const marks = ['receipt', 'payload', 'record', 'record_hash'];
const repeated = new Set(['budgets', 'demand', 'facts', 'fences', 'gates', 'identity', 'matched_rules', 'shadow']);

/** A text of this length has too few values for the limits that `parseUntrusted` and `parseStrictJson` set. */
const lengthMax = 49_152;
const loneSurrogate = /[\ud800-\udfff]/u;

/**
 * Reads the lines of a pack that contain receipts, in one pass: the text is canonical, and its value matches the
 * schema. It is several times faster than the general parser, which reads all other lines.
 */
export class PackLineReader {
  readonly #read = canonicalReader(PackReceipt, { marks, repeated, builders: packBuilders });

  /** `null` for a line that only the general parser can read or refuse. */
  read(line: Uint8Array | string): ReadLine | null {
    const text = line.length > lengthMax ? null : textOf(line);
    if (text === null) return null;
    const cursor = new CanonicalCursor(text);
    const value = this.#read(cursor);
    if (value === undefined || cursor.at !== text.length) return null;
    return { value: value as PackReceipt, texts: textsOf(cursor) }; // the reader of this schema
  }
}

function textOf(line: Uint8Array | string): string | null {
  if (typeof line === 'string') return loneSurrogate.test(line) ? null : line;
  try {
    return utf8Text(line);
  } catch (error) {
    if (error instanceof CryptoError) return null;
    throw error;
  }
}

function textsOf({ text, ranges }: CanonicalCursor): LineTexts {
  const [receipt, payload, record, recordHash] = ranges;
  if (receipt === undefined || payload === undefined) throw new Error('A line with a receipt has no payload');
  return {
    receipt: text.slice(receipt.start, receipt.end),
    payload: text.slice(payload.start, payload.end),
    record: record === undefined || recordHash === undefined ? null : textWithout(text, record, recordHash),
  };
}

const hashKey = '"record_hash":';

/** The text of the record without its hash and the comma behind it. A record has members before and after its hash. */
function textWithout(text: string, record: Range, hash: Range): string {
  return text.slice(record.start, hash.start - hashKey.length) + text.slice(hash.end + 1, record.end);
}
