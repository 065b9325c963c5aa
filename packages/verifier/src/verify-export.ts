import {
  ExportedHead,
  ExportedPeriod,
  ExportedReceipt,
  ExportHeader,
  HeadStatement,
  PackHeader,
  PeriodHeader,
} from '@countersign/contracts/governance-kernel';
import { parseStrictJson } from '@countersign/crypto';
import { assertAsOf } from './assert-as-of.ts';
import { ChainLinks } from './chain-links.ts';
import type { LinkOptions } from './chain-links.ts';
import type { EarlierPlaces } from './earlier-places.ts';
import { ExportCheckpoints } from './export-checkpoints.ts';
import { ExportEvidence } from './export-evidence.ts';
import { reportOf } from './export-report.ts';
import type { ExportFault, ExportReport, Requirement } from './export-report.ts';
import { assertNoPeriodAsked, assertPeriodAsked, assertSubject } from './export-subject.ts';
import type { ExportSubject } from './export-subject.ts';
import { LogPlaces } from './log-places.ts';
import type { LogPolicy } from './log-policy.ts';
import { openLine } from './open-line.ts';
import { PackVerification } from './verify-pack.ts';
import { lineBytesMax, lineLimits } from './read-lines.ts';
import { PeriodLinks } from './period-links.ts';
import { parseUntrusted } from './parse-untrusted.ts';
import { UsedApprovals } from './used-approvals.ts';
import { faultOf, VerificationError } from './verification-error.ts';
import { claimedReceiptId } from './verify-chain.ts';
import type { LogTrust } from './verify-log.ts';
import { verifyPeriodStatement } from './verify-period-statement.ts';
import { assertPolicyStatement } from './verify-policy-statement.ts';
import { assertParsedRecord, assertRecordOf } from './verify-record.ts';
import type { WantedOptions } from './wanted-items.ts';

export type ExportOptions = LogTrust &
  LinkOptions &
  ExportSubject & {
    /** The results that VERIFIED requires. The default is all of them. */
    require?: readonly Requirement[] | undefined;
    /** The items that must be present, which the caller knows from elsewhere. */
    wanted?: WantedOptions | undefined;
    /** The policy of the witnesses that must cosign the checkpoints. */
    policy?: LogPolicy | undefined;
    /** An earlier export, with which this export is compared. */
    earlier?: EarlierPlaces | undefined;
    /** Filled with the places of this export, for comparison with a later export. */
    places?: EarlierPlaces | undefined;
  };

/** All options except the keys and the crypto provider. */
export type VerifierOptions = Omit<ExportOptions, 'trust' | 'provider'>;

/**
 * Verifies an evidence pack (`countersign/evidence-pack.v1`), or the export of a session
 * (`countersign/chain-export.v2`) or of a period (`countersign/period-export.v1`), a line at a time. The lines are the
 * header with its checkpoints, head statements, receipts, and the final statement. Each receipt has its record, and its
 * places in the chain and the log. Stops at the first fault. Never throws for any export.
 */
export class ExportVerification {
  readonly #options: ExportOptions;
  readonly #links: ChainLinks;
  readonly #approvals = new UsedApprovals();
  readonly #places = new LogPlaces();
  readonly #evidence: ExportEvidence;
  #period: PeriodLinks | null = null;
  #pack: PackVerification | null = null;
  /** `null` before the header. */
  #checkpoints: ExportCheckpoints | null = null;
  #line = 0;
  #fault: ExportFault | null = null;

  constructor(options: ExportOptions) {
    this.#options = options;
    this.#links = new ChainLinks(options);
    this.#evidence = new ExportEvidence(options);
  }

  /** Reads the next line, without its line feed. `false` when nothing more needs to be read. */
  take(line: string | Uint8Array): boolean {
    if (this.#fault !== null) return false;
    this.#line += 1;
    let value: unknown = null;
    try {
      const read = this.#pack?.read(line) ?? null;
      value = read === null ? parseStrictJson(line, lineLimits) : read.value;
      if (this.#pack === null) this.#verifyLine(value);
      if (read === null) this.#pack?.take(line, value);
      else this.#pack?.takeReceipt(line, read);
      return true;
    } catch (error) {
      this.#fault = { ...faultOf(error), line: this.#line, receipt_id: receiptIdIn(value) };
      return false;
    }
  }

  /** Called for a line that is longer than this package accepts. */
  refuseLine(): void {
    const message = `a line has more than ${lineBytesMax} bytes`;
    this.#fault ??= { code: 'TOO_LARGE', message, line: this.#line + 1, receipt_id: null };
  }

  /**
   * Called when the text ended without a line feed. Exports of sessions and periods may end in this way. A pack without
   * a final line feed was cut.
   */
  endWithoutLineFeed(): void {
    if (this.#pack === null) return;
    const message = 'the last line has no line feed';
    this.#fault ??= { code: 'MALFORMED', message, line: this.#line, receipt_id: null };
  }

  report(): ExportReport {
    const checkpoints = this.#pack?.checkpoints ?? this.#checkpoints;
    const seen = { links: this.#links, period: this.#period, pack: this.#pack, evidence: this.#evidence };
    return reportOf({ ...seen, checkpoints, fault: this.#fault, options: this.#options });
  }

  #verifyLine(value: unknown): void {
    const checkpoints = this.#checkpoints;
    if (checkpoints === null && isOf(PackHeader, value))
      this.#pack = new PackVerification(parseUntrusted(PackHeader, value, 'header'), {
        ...this.#options,
        evidence: this.#evidence,
      });
    else if (checkpoints === null) this.#checkpoints = new ExportCheckpoints(this.#openHeader(value), this.#options);
    else if (this.#period !== null && isObject(value) && 'period' in value)
      this.#expectPeriod(this.#period, parseUntrusted(ExportedPeriod, value, 'period'), checkpoints);
    else if (this.#period === null && isObject(value) && 'head' in value)
      this.#expectHead(parseUntrusted(ExportedHead, value, 'head').head, checkpoints);
    else this.#verifyReceipt(parseUntrusted(ExportedReceipt, value, 'receipt line'), checkpoints);
  }

  #openHeader(value: unknown): ExportHeader | PeriodHeader {
    const refusal = isObject(value) && isObject(value['error']) ? value['error']['message'] : undefined;
    if (typeof refusal === 'string')
      throw new VerificationError('MALFORMED', `the file contains an error response instead of an export: ${refusal}`);
    if (!isOf(PeriodHeader, value)) {
      assertNoPeriodAsked(this.#options);
      return parseUntrusted(ExportHeader, value, 'header');
    }
    const header = parseUntrusted(PeriodHeader, value, 'header');
    assertPeriodAsked(header, this.#options);
    this.#period = new PeriodLinks(header, this.#options);
    return header;
  }

  /**
   * The kernel's statement of what it exported. It covers the log up to a size that includes all receipts of the
   * period.
   */
  #expectPeriod(period: PeriodLinks, line: ExportedPeriod, checkpoints: ExportCheckpoints): void {
    const { tenant_id, key_id, statement } = verifyPeriodStatement(line, { ...this.#options, checkpoints });
    period.expect(tenant_id, statement);
    this.#places.assertWithin(statement.log_size);
    this.#evidence.keys.add(key_id);
    this.#evidence.sign({ key_id, purpose: 'receipts' });
  }

  #expectHead(line: ExportedReceipt, checkpoints: ExportCheckpoints): void {
    const { opened, checkpoint, earliest } = this.#openLine(line, checkpoints);
    const { payload } = opened;
    if (this.#links.receipts > 0)
      throw new VerificationError(
        'MALFORMED',
        'a head statement follows a receipt. Head statements must come before all receipts',
      );
    if (payload.kind !== 'head' || line.record === undefined || checkpoint === null)
      throw new VerificationError(
        'HEAD_MISMATCH',
        'a head statement must be a receipt of the kind head with its record and proof',
      );
    const record = assertRecordOf(payload, line.record, this.#options.provider);
    const head = parseUntrusted(HeadStatement, record.intent.facts, 'head statement');
    assertAsOf(head.as_of, { opened, checkpoint, earliest });
    const ended = { ...head, tenant_id: payload.tenant_id };
    assertSubject(ended, this.#options);
    this.#links.expectHead(ended);
    this.#places.takeHead(ended, line.proof);
    this.#evidence.heads += 1;
    this.#evidence.sign(opened.key);
  }

  #verifyReceipt(line: ExportedReceipt, checkpoints: ExportCheckpoints): void {
    const { opened, checkpoint } = this.#openLine(line, checkpoints);
    const { payload } = opened;
    assertSubject(payload, this.#options);
    const links = this.#period ?? this.#links;
    links.add(opened);
    this.#places.take(payload, line.proof);
    const { record } = line;
    if (record !== undefined) assertParsedRecord(payload, record, { provider: this.#options.provider, text: null });
    (this.#period?.approvals ?? this.#approvals).take(payload, record);
    if (record !== undefined) {
      links.learn(record);
      const key = assertPolicyStatement(record, { ...this.#options, seen: checkpoint });
      if (key !== null) this.#evidence.sign(key);
    }
    const before = line.proof === undefined ? undefined : checkpoints.findBefore(line.proof.log_index);
    this.#evidence.take(opened, {
      record,
      before: before?.time ?? null,
      logged: checkpoint?.time ?? null,
      place: line.proof?.log_index,
    });
  }

  #openLine(line: ExportedReceipt, checkpoints: ExportCheckpoints) {
    return openLine(line, { ...this.#options, checkpoints, findCheckpoint: (size) => checkpoints.find(size) });
  }
}

/** Verifies all lines at once. */
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

function isOf({ shape }: { shape: { format: { value: string } } }, value: unknown): boolean {
  return isObject(value) && value['format'] === shape.format.value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
