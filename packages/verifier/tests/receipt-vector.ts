import { chainOf, exportOf, headOf, linesOf, sign, testKeys } from './chain-fixture.ts';
import type { Count } from '../src/export-evidence.ts';
import type { Chain, Exported, ExportDeps, Line, Members, Receipt } from './chain-fixture.ts';

type Verdict = 'VERIFIED' | 'INCOMPLETE' | 'UNDECIDABLE' | 'NOT_VERIFIED';

/**
 * One file of contracts/vectors/receipts: the lines of an export, the trusted keys, and the expected answer of a
 * verifier.
 */
export type ReceiptVector = {
  about: string;
  /** Clause of docs/verification-specification.md. */
  clause?: string;
  keys: { keys: Members[] };
  /** Text of a policy (c2sp.org/tlog-policy) for the verification. */
  policy?: string;
  export: string[];
  expect: {
    verdict: Verdict;
    code?: string;
    line?: number;
    missing?: string[];
    issuer_defects?: Count;
    time?: string;
    witnessed?: { after: string | null; by: string };
  };
};

export async function base(): Promise<Exported> {
  return exportOf([chainOf(3)]);
}

/** An export without head statements, because their keys and times would be checked first. */
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

/** A chain whose head statement has these facts, this signer and this time of its checkpoint. */
export async function withHead(facts: Members, { signer, time }: ExportDeps = {}): Promise<Exported> {
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

/** A valid chain with a sealed value that its issuer cannot know. */
export function defective(about: string, exported: Exported, issuer_defects: Count): ReceiptVector {
  return { about, keys: testKeys(), export: linesOf(exported), expect: { verdict: 'VERIFIED', issuer_defects } };
}

/** A vector that is refused with `code` at the receipt `index`, not counting the header and the head statements. */
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

/** A vector of malformed lines, which are given as text because no values could produce them. */
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
