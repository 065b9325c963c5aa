import { chainOf, exportOf, headOf, linesOf, sign, testKeys } from './chain-fixture.ts';
import type { Count } from '../src/export-evidence.ts';
import type { Chain, Exported, ExportParts, Line, Members, Receipt } from './chain-fixture.ts';

type Verdict = 'VERIFIED' | 'INCOMPLETE' | 'UNDECIDABLE' | 'NOT_VERIFIED';

/** One file of contracts/vectors/receipts: the lines of an export, the keys to trust, and what a verifier must answer. */
export type ReceiptVector = {
  about: string;
  /** In docs/verification-specification.md. */
  clause?: string;
  keys: { keys: Members[] };
  export: string[];
  expect: { verdict: Verdict; code?: string; line?: number; missing?: string[]; issuer_defects?: Count };
};

export async function base(): Promise<Exported> {
  return exportOf([chainOf(3)]);
}

/** Without head statements, whose own keys and times would be seen first. */
export async function bareOf(chains: Chain[], time?: string): Promise<Exported> {
  const whole = await exportOf(chains, { heads: false, ...(time === undefined ? {} : { time }) });
  return whole;
}

export async function bare(): Promise<Exported> {
  return bareOf([chainOf(3)]);
}

export async function changedAt(index: number, change: (receipt: Receipt) => Receipt): Promise<Exported> {
  const whole = await base();
  const changed = (line: Line, at: number) => (at === index ? { ...line, receipt: change(line.receipt) } : line);
  return { ...whole, receipts: whole.receipts.map(changed) };
}

/** A chain whose head statement differs, has another signer, or was seen at another time. */
export async function withHead(facts: Members, { signer, time }: ExportParts = {}): Promise<Exported> {
  const chain = chainOf(3);
  const { receipt, record } = headOf(chain, 0, facts);
  const receipts = [...chain.receipts, sign(receipt.payload, signer)];
  const seen = { heads: false, ...(time === undefined ? {} : { time }) };
  const whole = await exportOf([{ receipts, records: [...chain.records, record] }], seen);
  return { ...whole, heads: whole.receipts.slice(3).map((head) => ({ head })), receipts: whole.receipts.slice(0, 3) };
}

export function valid(about: string, exported: Exported, keys = testKeys()): ReceiptVector {
  return { about, keys, export: linesOf(exported), expect: { verdict: 'VERIFIED' } };
}

/** A valid chain whose issuer sealed a value that it cannot know. */
export function defective(about: string, exported: Exported, issuer_defects: Count): ReceiptVector {
  return { about, keys: testKeys(), export: linesOf(exported), expect: { verdict: 'VERIFIED', issuer_defects } };
}

/** `index` counts the receipts: behind the header and the head statements. */
export function invalid(
  about: string,
  code: string,
  exported: Exported,
  index?: number,
  keys = testKeys(),
): ReceiptVector {
  const line = index === undefined ? {} : { line: index + 2 + exported.heads.length };
  return { about, keys, export: linesOf(exported), expect: { verdict: 'NOT_VERIFIED', code, ...line } };
}

/** Lines that no value makes. */
export function hiding(about: string, { lines, line = 3 }: { lines: string[]; line?: number }): ReceiptVector {
  return { about, keys: testKeys(), export: lines, expect: { verdict: 'NOT_VERIFIED', code: 'MALFORMED', line } };
}

export function undecidable(about: string, exported: Exported, line: number): ReceiptVector {
  const expect = { verdict: 'UNDECIDABLE', code: 'KEY_UNKNOWN', line } as const;
  return { about, keys: testKeys(), export: linesOf(exported), expect };
}

export function incomplete(about: string, exported: Exported, missing: string): ReceiptVector {
  return { about, keys: testKeys(), export: linesOf(exported), expect: { verdict: 'INCOMPLETE', missing: [missing] } };
}

export function under(keys: ReceiptVector['keys'], vector: ReceiptVector): ReceiptVector {
  return { ...vector, keys };
}
