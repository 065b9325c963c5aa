import {
  ExportedHead,
  ExportedPeriod,
  ExportedReceipt,
  ExportHeader,
  HeadStatement,
  PeriodHeader,
  PeriodStatement,
} from '@countersign/contracts/governance-kernel';
import { encodeHex, parseStrictJson } from '@countersign/crypto';
import { ChainLinks } from './chain-links.ts';
import type { LinkOptions } from './chain-links.ts';
import { reportOf, widened } from './export-report.ts';
import type { Evidence, ExportFault, ExportReport, Requirement } from './export-report.ts';
import { LogPlaces } from './log-places.ts';
import { lineBytesMax, lineLimits } from './read-lines.ts';
import { PeriodLinks } from './period-links.ts';
import { parseUntrusted } from './parse-untrusted.ts';
import { assertNotAfter, assertNotRevoked } from './trusted-keys.ts';
import { UsedApprovals } from './used-approvals.ts';
import { faultOf, VerificationError } from './verification-error.ts';
import { claimedReceiptId } from './verify-chain.ts';
import { assertIncluded, verifyCheckpoint } from './verify-log.ts';
import type { LogTrust, TimedCheckpoint } from './verify-log.ts';
import { assertPolicyStatement } from './verify-policy-statement.ts';
import { openReceipt } from './verify-receipt.ts';
import type { OpenedReceipt } from './verify-receipt.ts';
import { assertRecordOf } from './verify-record.ts';

export type ExportOptions = LogTrust &
  LinkOptions & {
    /** Whose export the caller asked for: a receipt of anybody else is refused. */
    tenant?: string | undefined;
    session?: string | undefined;
    /** Ends of the period that the caller asked for: an export of anything else is refused. */
    from?: string | undefined;
    to?: string | undefined;
    /** What VERIFIED must say; all of it unless told otherwise. */
    require?: readonly Requirement[] | undefined;
    /** For whoever verifies beside other work: a line with more values of JSON is too large. */
    lineValuesMax?: number | undefined;
  };

const none = { count: 0, first: null };

/**
 * Verifies the export of a session (`countersign/chain-export.v2`) or of a period (`countersign/period-export.v1`), a line at a time: the
 * header with its checkpoints, head statements, then each receipt with its record, its place in the chain and its place in the log, and of
 * a period the statement at its end. Stops at the first fault. Never throws for what the export holds.
 */
export class ExportVerification {
  readonly #options: ExportOptions;
  readonly #links: ChainLinks;
  readonly #approvals = new UsedApprovals();
  readonly #places = new LogPlaces();
  readonly #evidence: Evidence = {
    records: 0,
    proofs: 0,
    heads: 0,
    bare: none,
    unproven: none,
    brokenGlass: none,
    keys: new Set(),
    times: null,
  };
  #period: PeriodLinks | null = null;
  /** By tree size; null before the header. */
  #checkpoints: Map<number, TimedCheckpoint> | null = null;
  #line = 0;
  #fault: ExportFault | null = null;

  constructor(options: ExportOptions) {
    this.#options = options;
    this.#links = new ChainLinks(options);
  }

  /** The next line, without its line feed. False when nothing more needs to be read. */
  take(line: string | Uint8Array): boolean {
    if (this.#fault !== null) return false;
    this.#line += 1;
    let value: unknown = null;
    try {
      const { lineValuesMax: valuesMax } = this.#options;
      value = parseStrictJson(line, valuesMax === undefined ? lineLimits : { ...lineLimits, valuesMax });
      this.#verifyLine(value);
      return true;
    } catch (error) {
      this.#fault = { ...faultOf(error), line: this.#line, receipt_id: receiptIdIn(value) };
      return false;
    }
  }

  /** For whoever reads the lines: the next one is more than this package takes. */
  refuseLine(): void {
    const message = `a line has more than ${lineBytesMax} bytes`;
    this.#fault ??= { code: 'TOO_LARGE', message, line: this.#line + 1, receipt_id: null };
  }

  report(): ExportReport {
    const seen = { links: this.#links, period: this.#period, evidence: this.#evidence };
    return reportOf({ ...seen, fault: this.#fault, options: this.#options });
  }

  #verifyLine(value: unknown): void {
    if (this.#checkpoints === null) this.#openHeader(value);
    else if (this.#period !== null && isObject(value) && 'period' in value)
      this.#expectPeriod(this.#period, parseUntrusted(ExportedPeriod, value, 'period'));
    else if (this.#period === null && isObject(value) && 'head' in value)
      this.#expectHead(parseUntrusted(ExportedHead, value, 'head').head);
    else this.#verifyReceipt(parseUntrusted(ExportedReceipt, value, 'receipt line'));
  }

  #openHeader(value: unknown): void {
    const refusal = isObject(value) && isObject(value['error']) ? value['error']['message'] : undefined;
    if (typeof refusal === 'string')
      throw new VerificationError('MALFORMED', `this is the error of a server and no export: ${refusal}`);
    const { checkpoints } = isPeriod(value) ? this.#beginPeriod(value) : this.#beginChains(value);
    this.#checkpoints = new Map();
    for (const note of checkpoints) {
      const checkpoint = verifyCheckpoint(note, this.#options);
      if (this.#checkpoints.has(checkpoint.size))
        throw new VerificationError('DUPLICATE', 'two checkpoints have one size');
      this.#checkpoints.set(checkpoint.size, checkpoint);
    }
  }

  #beginChains(value: unknown): ExportHeader {
    const { from, to } = this.#options;
    if ((from ?? to) !== undefined)
      throw new VerificationError('SUBJECT_MISMATCH', 'it is the export of a session and of no period');
    return parseUntrusted(ExportHeader, value, 'header');
  }

  #beginPeriod(value: unknown): PeriodHeader {
    const header = parseUntrusted(PeriodHeader, value, 'header');
    const { tenant, from, to } = this.#options;
    if ((tenant ?? header.tenant_id) !== header.tenant_id)
      throw new VerificationError('SUBJECT_MISMATCH', `it is of the tenant ${header.tenant_id}`);
    if ((from ?? header.from) !== header.from || (to ?? header.to) !== header.to)
      throw new VerificationError('SUBJECT_MISMATCH', `it is of the period ${header.from} to ${header.to}`);
    this.#period = new PeriodLinks(header, this.#options);
    return header;
  }

  /** What the kernel says it gave, as a leaf of the log that comes behind all that it gave. */
  #expectPeriod(period: PeriodLinks, { period: line, checkpoint: note }: ExportedPeriod): void {
    const seen = verifyCheckpoint(note, this.#options);
    const { opened, witnessed } = this.#openLine(line, new Map([[seen.size, seen]]));
    const { payload, key } = opened;
    if (payload.kind !== 'period' || line.record === undefined || witnessed === null)
      throw new VerificationError(
        'PERIOD_MISMATCH',
        'a period statement is a receipt of that kind with record and proof',
      );
    const record = assertRecordOf(payload, line.record, this.#options.provider);
    const statement = parseUntrusted(PeriodStatement, record.intent.facts, 'period statement');
    assertNotAfter(statement.as_of, witnessed);
    if (statement.to > statement.as_of) throw new VerificationError('TIME_MISMATCH', 'the period had not ended yet');
    const root = this.#checkpoints?.get(statement.log_size)?.root;
    if (root === undefined || `sha256:${encodeHex(root)}` !== statement.log_root)
      throw new VerificationError('PERIOD_MISMATCH', 'no checkpoint of the export signs the log of the statement');
    period.expect(payload.tenant_id, statement);
    this.#places.assertWithin(statement.log_size);
    this.#evidence.keys.add(key.key_id);
  }

  #expectHead(line: ExportedReceipt): void {
    const { opened, witnessed } = this.#openLine(line);
    const { payload } = opened;
    if (this.#links.receipts > 0) throw new VerificationError('MALFORMED', 'a head statement stands behind a receipt');
    if (payload.kind !== 'head' || line.record === undefined || witnessed === null)
      throw new VerificationError('HEAD_MISMATCH', 'a head statement is a receipt of that kind with record and proof');
    const record = assertRecordOf(payload, line.record, this.#options.provider);
    const head = parseUntrusted(HeadStatement, record.intent.facts, 'head statement');
    assertNotAfter(head.as_of, witnessed);
    this.#assertSubject({ tenant_id: payload.tenant_id, session_id: head.session_id });
    const ended = { ...head, tenant_id: payload.tenant_id };
    this.#links.expectHead(ended);
    this.#places.takeHead(ended, line.proof);
    this.#evidence.heads += 1;
  }

  #verifyReceipt(line: ExportedReceipt): void {
    const { opened, witnessed } = this.#openLine(line);
    const { payload, key } = opened;
    this.#assertSubject(payload);
    const links = this.#period ?? this.#links;
    links.add(opened);
    this.#places.take(payload, line.proof);
    const record = line.record === undefined ? undefined : assertRecordOf(payload, line.record, this.#options.provider);
    (this.#period?.approvals ?? this.#approvals).take(payload, record);
    if (record !== undefined) {
      links.learn(record);
      assertPolicyStatement(record, { ...this.#options, witnessed });
      this.#evidence.records += 1;
    } else if (payload.kind !== 'outcome') this.#evidence.bare = widened(this.#evidence.bare, payload.receipt_id);
    if (payload.kind === 'break_glass')
      this.#evidence.brokenGlass = widened(this.#evidence.brokenGlass, payload.receipt_id);
    if (witnessed === null) this.#evidence.unproven = widened(this.#evidence.unproven, payload.receipt_id);
    else this.#evidence.proofs += 1;
    this.#evidence.keys.add(key.key_id);
    this.#evidence.times = spanOf(this.#evidence.times, payload.issued_at, witnessed);
  }

  /** Signature, key, and place in the log. `witnessed`: the time of the checkpoint that has the receipt. */
  #openLine(
    { receipt, proof }: ExportedReceipt,
    checkpoints = this.#checkpoints,
  ): { opened: OpenedReceipt; witnessed: string | null } {
    const { trust, provider } = this.#options;
    const opened = openReceipt(receipt, trust, provider);
    const checkpoint = proof === undefined ? null : checkpoints?.get(proof.tree_size);
    if (proof !== undefined && !checkpoint)
      throw new VerificationError('INCLUSION_UNPROVEN', `no checkpoint signs a tree of ${proof.tree_size}`);
    if (proof !== undefined && checkpoint)
      assertIncluded({ receipt_hash: opened.receipt_hash, proof, checkpoint, provider });
    const witnessed = checkpoint?.time ?? null;
    assertNotRevoked(opened.key, { claimed: opened.payload.issued_at, witnessed });
    assertNotAfter(opened.payload.issued_at, witnessed);
    return { opened, witnessed };
  }

  #assertSubject({ tenant_id, session_id }: { tenant_id: string; session_id: string }): void {
    const { tenant, session } = this.#options;
    if ((tenant ?? tenant_id) !== tenant_id)
      throw new VerificationError('SUBJECT_MISMATCH', `it is of the tenant ${tenant_id}`);
    if ((session ?? session_id) !== session_id)
      throw new VerificationError('SUBJECT_MISMATCH', `it is of the session ${session_id}`);
  }
}

/** All lines at once. */
export function verifyExport(lines: Iterable<string | Uint8Array>, options: ExportOptions): ExportReport {
  const verification = new ExportVerification(options);
  for (const line of lines) if (!verification.take(line)) break;
  return verification.report();
}

function receiptIdIn(value: unknown): string | null {
  if (!isObject(value)) return null;
  const line = isObject(value['head']) ? value['head'] : value;
  return claimedReceiptId(line['receipt']);
}

function spanOf(times: Evidence['times'], issuedAt: string, witnessed: string | null): Evidence['times'] {
  return {
    first: times === null || issuedAt < times.first ? issuedAt : times.first,
    last: times === null || issuedAt > times.last ? issuedAt : times.last,
    witnessed: latest(witnessed, times?.witnessed ?? null),
  };
}

/** When all that was seen had been seen. */
function latest(one: string | null, other: string | null): string | null {
  return one === null || (other !== null && other > one) ? other : one;
}

function isPeriod(value: unknown): boolean {
  return isObject(value) && value['format'] === PeriodHeader.shape.format.value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
