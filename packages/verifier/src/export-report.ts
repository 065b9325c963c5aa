import type { EvidenceAnswer } from '@countersign/contracts';
import type { ReportedKey, ReportedLog, ReportedPack } from '@countersign/contracts/governance-kernel';
import type { ChainLinks, ChainSummary } from './chain-links.ts';
import type { EarlierPlaces } from './earlier-places.ts';
import type { ExportCheckpoints } from './export-checkpoints.ts';
import type { Count, ExportEvidence } from './export-evidence.ts';
import type { PeriodLinks, PeriodSummary } from './period-links.ts';
import type { VerificationErrorCode } from './verification-error.ts';
import type { PackVerification } from './verify-pack.ts';
import type { LogPolicy } from './log-policy.ts';
import type { WitnessedSpan } from './witnessed-log.ts';

export type Requirement = 'integrity' | 'completeness' | 'signer' | 'time';
export const requirements: readonly Requirement[] = ['integrity', 'completeness', 'signer', 'time'];

/** The first fault and its place. Lines count from 1, including the header. 0 when no line is at fault. */
export type ExportFault = {
  code: VerificationErrorCode;
  message: string;
  line: number;
  /** The receipt id that the line claims. */
  receipt_id: string | null;
};

/**
 * The four answers about an export, and the verdict that follows from them. `VERIFIED`: all required answers are
 * positive. `INCOMPLETE`: nothing is wrong, but something is missing. `UNDECIDABLE`: a key is unknown or a line is too
 * large. `NOT_VERIFIED`: the export is wrong or empty.
 */
export type ExportReport = {
  verdict: EvidenceAnswer<'verdict'>;
  /** Whether signatures, hashes, links, records and places in the log are correct. */
  integrity: EvidenceAnswer<'integrity'>;
  /**
   * Whether nothing is missing, up to the end in a head statement or final statement. Receipts need records and proofs.
   */
  completeness: EvidenceAnswer<'completeness'>;
  /** Whether trusted keys signed the export while they were valid. */
  signer: EvidenceAnswer<'signer'>;
  /**
   * `WITNESSED`: the witnesses of the caller's policy bound the time of each receipt. `LOGGED`: the operator's log
   * contains each receipt. `CLAIMED`: only the signer states the time.
   */
  time: EvidenceAnswer<'time'>;
  fault: ExportFault | null;
  /** The reasons why completeness or time are not proven, as text. */
  missing: string[];
  /** Facts that no receipt can show, as text. A verified report states nothing about them. */
  limits: string[];
  receipts: number;
  records: number;
  proofs: number;
  heads: number;
  /** Approvals that one person gave alone, despite a quorum or a time lock. Each states the person and the reason. */
  broken_glass: Count;
  /**
   * Outcomes that are `uncertain` and nevertheless have an output. They were not altered: older kernels sealed the
   * caller's error in place of an output.
   */
  issuer_defects: Count;
  /** The keys of the receipts and of the final statement. */
  keys: string[];
  /** Each key of the report, and the number of valid statements that it signed. */
  signers: ReportedKey[];
  /** `null` when the export contains no checkpoint. */
  log: ReportedLog | null;
  issued: ExportEvidence['times'];
  /** `null` unless the time is `WITNESSED`. */
  witnessed: WitnessedSpan | null;
  /** Empty unless the export is that of a session. */
  chains: ChainSummary[];
  /** `null` unless the export is that of a period. */
  period: PeriodSummary | null;
  /** `null` unless the export is an evidence pack. */
  pack: ReportedPack | null;
};

type Seen = {
  links: ChainLinks;
  /** For a period: replaces `links`. */
  period: PeriodLinks | null;
  /** For a pack: replaces `links` and `period`. */
  pack: PackVerification | null;
  checkpoints: ExportCheckpoints | null;
  evidence: ExportEvidence;
  fault: ExportFault | null;
  options: {
    partial?: boolean | undefined;
    require?: readonly Requirement[] | undefined;
    earlier?: EarlierPlaces | undefined;
    policy?: LogPolicy | undefined;
  };
};

export function reportOf(seen: Seen): ExportReport {
  const { links, period, pack, checkpoints, evidence } = seen;
  const fault = seen.fault ?? emptiness(seen);
  const answers = fault === null ? answersOf(seen) : answersTo(fault);
  return {
    verdict: verdictOf(answers, fault, seen.options),
    ...answers,
    fault,
    limits: fault === null ? [...limitsOf(seen), ...(seen.options.earlier?.limits() ?? [])] : [],
    receipts: (pack ?? period ?? links).receipts,
    records: evidence.records,
    proofs: evidence.proofs,
    heads: evidence.heads,
    broken_glass: evidence.brokenGlass,
    issuer_defects: evidence.issuerDefects,
    keys: [...evidence.keys],
    signers: [...evidence.signers, ...signersOf(checkpoints)],
    log: checkpoints?.log ?? null,
    issued: evidence.times,
    chains: links.summaries(),
    period: period?.summary ?? null,
    pack: pack?.summary ?? null,
  };
}

function limitsOf({ pack, period, evidence: { shadows } }: Seen): string[] {
  const evaluated = `effects of ${shadows} shadow decisions: they were only evaluated, and permitted and refused nothing`;
  const truth = 'whether a call had the effect that its caller or server states';
  const facts = shadows === 0 ? [truth] : [truth, evaluated];
  if (pack !== null) return [...facts, ...pack.limits()];
  const controls = 'controls behind the decisions: only an evidence pack contains them';
  const ofPeriod = 'whether the period has more receipts: only the operator states their number';
  const ofSession = 'whether a session has more receipts: only the operator states where it ends';
  return [...facts, controls, period === null ? ofSession : ofPeriod];
}

function signersOf(checkpoints: ExportCheckpoints | null): ReportedKey[] {
  const counts = new Map<string, number>();
  for (const { key_id } of checkpoints?.keys ?? []) counts.set(key_id, (counts.get(key_id) ?? 0) + 1);
  return [...counts].map(([key_id, signed]) => ({ key_id, purpose: 'log', signed }));
}

type Answers = Pick<ExportReport, 'integrity' | 'completeness' | 'signer' | 'time' | 'missing' | 'witnessed'>;

function answersOf(seen: Seen): Answers {
  const { links, period, pack, evidence, options } = seen;
  const isLogged = evidence.unproven.count === 0;
  const witnessed = isLogged ? witnessedOf(seen) : null;
  const gaps = (pack ?? period)?.missing() ?? missingOf(links, { partial: options.partial === true });
  const missing = [...gaps, ...evidence.missingItems(pack?.summary.scope ?? null), ...evidenceMissing(evidence)];
  return {
    integrity: 'VERIFIED',
    completeness: missing.length === 0 ? 'COMPLETE' : 'INCOMPLETE',
    signer: 'TRUSTED',
    time: isLogged ? loggedAs(witnessed) : 'CLAIMED',
    missing: [...missing, ...(hasQuorum(options, witnessed) ? [] : [quorumMissing])],
    witnessed,
  };
}

const quorumMissing = 'no checkpoint that has every receipt has the cosignatures that the policy asks for';

function witnessedOf({ checkpoints, evidence: { span } }: Seen): WitnessedSpan | null {
  return span === null ? null : (checkpoints?.witnessedAt(span) ?? null);
}

function loggedAs(witnessed: WitnessedSpan | null) {
  return witnessed === null ? 'LOGGED' : 'WITNESSED';
}

/** A caller with a policy requires its quorum. `quorum none` requires nothing. */
function hasQuorum({ policy }: Seen['options'], witnessed: WitnessedSpan | null): boolean {
  return (policy?.quorum ?? null) === null || witnessed !== null;
}

const undecidable: readonly VerificationErrorCode[] = ['KEY_UNKNOWN', 'TOO_LARGE'];
/** Whether the code leaves the verdict open: a key is unknown or a line is too large, but nothing is wrong. */
export function isUndecidable(code: VerificationErrorCode): boolean {
  return undecidable.includes(code);
}
const distrusted: readonly VerificationErrorCode[] = ['KEY_REVOKED', 'KEY_EXPIRED', 'KEY_NOT_VALID_YET'];

/** The answers about an export with a fault. Nothing is read after the fault, so the rest of the export is unknown. */
function answersTo({ code }: ExportFault): Answers {
  const isKnown = !isUndecidable(code);
  const signers = { KEY_UNKNOWN: 'UNKNOWN', SIGNATURE_INVALID: 'NOT_TRUSTED' } as const;
  const signer = code in signers ? signers[code as keyof typeof signers] : 'UNDECIDED'; // narrowed by `in`
  return {
    integrity: isKnown ? 'BROKEN' : 'UNDECIDED',
    completeness: code === 'EMPTY' ? 'INCOMPLETE' : 'UNDECIDED',
    signer: distrusted.includes(code) ? 'NOT_TRUSTED' : signer,
    time: code === 'TIME_MISMATCH' ? 'CONTRADICTED' : 'UNDECIDED',
    missing: [],
    witnessed: null,
  };
}

function verdictOf(answers: Answers, fault: ExportFault | null, options: Seen['options']) {
  const required = options.require ?? requirements;
  if (fault !== null) return isUndecidable(fault.code) ? 'UNDECIDABLE' : 'NOT_VERIFIED';
  const isShort =
    (required.includes('completeness') && answers.completeness !== 'COMPLETE') ||
    (required.includes('time') && (answers.time === 'CLAIMED' || !hasQuorum(options, answers.witnessed)));
  return isShort ? 'INCOMPLETE' : 'VERIFIED';
}

/**
 * An empty export contradicts nothing and proves nothing. A period or a pack with its statement is not empty, because
 * the statement itself is a receipt.
 */
function emptiness({ links, period, pack }: Seen): ExportFault | null {
  if (pack !== null && (pack.receipts > 0 || pack.summary.stated !== null)) return null;
  if (links.receipts > 0 || (period !== null && (period.receipts > 0 || period.summary.stated !== null))) return null;
  return { code: 'EMPTY', message: 'the export has no receipts', line: 0, receipt_id: null };
}

/** A partial export may lack earlier and later receipts, so its ends are not reported as missing. */
function missingOf(links: ChainLinks, { partial }: { partial: boolean }): string[] {
  const ends = links.summaries().flatMap((chain) => (partial || chain.end === 'PROVEN' ? [] : [endMissing(chain)]));
  const absent = links
    .absentChains()
    .map(({ tenant_id, session_id }) => `${tenant_id}/${session_id}: the export has no receipt of this session`);
  const heads = links.missingHeads().map((head) => `no chain ends with ${head}`);
  return [...ends, ...(partial ? [] : absent), ...heads];
}

function endMissing({ tenant_id, session_id, last, end, end_as_of, stated_end }: ChainSummary): string {
  const chain = `${tenant_id}/${session_id}`;
  if (end === 'CUT') return `${chain}: it ends at ${last}, and at ${end_as_of ?? ''} the log had more`;
  if (stated_end === null) return `${chain}: nothing says that ${last} is its end`;
  return `${chain}: behind the head of ${stated_end}, nothing says that ${last} is the end`;
}

function evidenceMissing({ bare, unproven }: ExportEvidence): string[] {
  return [...gapMissing(bare, 'record'), ...gapMissing(unproven, 'place in the log')];
}

function gapMissing({ count, first }: Count, what: string): string[] {
  // Stryker disable next-line StringLiteral: A count above zero has a first item.
  return count === 0 ? [] : [`${count} receipts without ${what}, first ${first ?? ''}`];
}
