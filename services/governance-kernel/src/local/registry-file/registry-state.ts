import { Digest } from '@countersign/contracts';
import { Checkpoint, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { receiptHash } from '@countersign/receipts';
import { z } from 'zod';
import type { AnyControl } from '../../ledger/control.ts';
import { chainName, type ChainHead, type ChainKey } from '../../ledger/statement.ts';
import { rowsOfTables, tableNames } from './registry-tables.ts';

const registryFormat = 'countersign/registry-file.v1';

/** A receipt with its signed texts. Its index in the list is its place in the log. */
const LedgerRow = z.strictObject({
  ulid: z.string(),
  payload: z.string(),
  key_id: z.string(),
  signature: z.string(),
  receipt_hash: Digest,
  record: z.string().nullable(),
});
type LedgerRow = z.infer<typeof LedgerRow>;

/** The answer of an Idempotency-Key. `answer` is `null` while its request runs. */
const KeyAnswer = z.strictObject({
  scope: z.string(),
  key: z.string(),
  fingerprint: z.string(),
  at: z.iso.datetime({ precision: 3 }),
  answer: z.strictObject({ status: z.int(), headers: z.record(z.string(), z.string()), text: z.string() }).nullable(),
});
export type KeyAnswer = z.infer<typeof KeyAnswer>;

const RegistryDocument = z.strictObject({
  format: z.literal(registryFormat),
  /** The version of all controls: a random number that each change of a control replaces. */
  epoch: z.int().min(0),
  ledger: z.array(LedgerRow),
  checkpoints: z.array(Checkpoint),
  answers: z.array(KeyAnswer),
  /** The rows of controls, by the name of the database table. */
  tables: z.record(z.string(), z.array(z.record(z.string(), z.json()))),
});
type RegistryDocument = z.infer<typeof RegistryDocument>;

/** A receipt with its chain and its parsed payload. */
export type LogEntry = LedgerRow & { readonly chain: ChainKey; readonly content: ReceiptPayload };

/** The validated content of the file, with derived data. */
export type RegistryState = Omit<RegistryDocument, 'format' | 'ledger'> & {
  readonly log: readonly LogEntry[];
  readonly heads: ReadonlyMap<string, ChainKey & ChainHead>;
};

/** The file has content that no kernel writes. The error names the member, and the file is unchanged. */
export class DamagedRegistry extends Error {
  override readonly name = 'DamagedRegistry';
}

export function emptyState(): RegistryState {
  return { epoch: 1, log: [], heads: new Map(), checkpoints: [], answers: [], tables: {} };
}

/** Throws DamagedRegistry with the name of the member. */
export function parseRegistry(provider: CryptoProvider, controls: readonly AnyControl[], text: string): RegistryState {
  const { ledger, format: _, ...rest } = parseDocument(text);
  const { checkpoints, tables } = rest;
  const state = { ...rest, log: [], heads: new Map() };
  const complete = withEntries(
    state,
    ledger.map((row, place) => entryOf(provider, row, place)),
  );
  const larger = checkpoints.findIndex(({ tree_size: size }) => size > ledger.length);
  if (larger !== -1) throw damaged(`checkpoints.${larger}.tree_size`, 'the log has fewer receipts');
  const existing = tableNames(controls);
  for (const name of Object.keys(tables))
    if (!existing.has(name)) throw damaged(`tables.${name}`, 'there is no such table');
  for (const control of controls) readAll(control, complete);
  return complete;
}

export function registryText({ log, heads: _, ...rest }: RegistryState): string {
  const ledger = log.map(({ chain: _chain, content: _content, ...row }) => row);
  return `${JSON.stringify({ format: registryFormat, ...rest, ledger } satisfies RegistryDocument)}\n`;
}

/** The state with these receipts appended. Throws DamagedRegistry when one does not continue its chain. */
export function withEntries(state: RegistryState, entries: readonly LogEntry[]): RegistryState {
  const heads = new Map(state.heads);
  for (const [nth, { chain, content, receipt_hash: hash }] of entries.entries()) {
    const name = chainName(chain);
    const { lamport, receiptHash: previous } = heads.get(name) ?? { lamport: 0, receiptHash: null };
    if (content.lamport_clock !== lamport + 1 || content.prev_hash !== previous)
      throw damaged(`ledger.${state.log.length + nth}.payload`, 'the receipt does not continue its session');
    heads.set(name, { ...chain, lamport: lamport + 1, receiptHash: hash, issuedAt: content.issued_at });
  }
  return { ...state, log: [...state.log, ...entries], heads };
}

/** The rows of one control. Throws DamagedRegistry for a row with an unexpected form. */
export function readAll(control: AnyControl, { tables, log }: RegistryState): unknown[] {
  return rowsOfTables(control, { tables, placeOf: (ulid) => log.findIndex((entry) => entry.ulid === ulid) }).map(
    (stored, place) => {
      try {
        return control.rowOf(stored);
      } catch (error) {
        throw damaged(`tables.${control.writes?.table}.${place}`, messageOf(error));
      }
    },
  );
}

function parseDocument(text: string): RegistryDocument {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw damaged('the document', messageOf(error));
  }
  const { data, error } = RegistryDocument.safeParse(value);
  if (data !== undefined) return data;
  const [issue] = error.issues;
  throw damaged(issue?.path.join('.') || 'the document', issue?.message ?? 'another form');
}

function entryOf(provider: CryptoProvider, row: LedgerRow, place: number): LogEntry {
  const member = `ledger.${place}`;
  const signature = { alg: 'Ed25519', key_id: row.key_id, value: row.signature } as const;
  if (receiptHash(provider, { payload: row.payload, signature }) !== row.receipt_hash)
    throw damaged(`${member}.receipt_hash`, 'it is not the hash of the receipt');
  let content: ReceiptPayload;
  try {
    content = ReceiptPayload.parse(JSON.parse(row.payload));
  } catch (error) {
    throw damaged(`${member}.payload`, messageOf(error));
  }
  return { ...row, content, chain: { tenant: content.tenant_id, session: content.session_id } };
}

function damaged(member: string, problem: string): DamagedRegistry {
  return new DamagedRegistry(`${member}: ${problem}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
