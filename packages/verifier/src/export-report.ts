import type { EvidenceAnswer } from '@countersign/contracts';
import type { ReportedKey, ReportedLog, ReportedPack } from '@countersign/contracts/governance-kernel';
import type { ChainLinks, ChainSummary } from './chain-links.ts';
import type { EarlierPlaces } from './earlier-places.ts';
import type { ExportCheckpoints } from './export-checkpoints.ts';
import type { Count, ExportEvidence } from './export-evidence.ts';
import type { PeriodLinks, PeriodSummary } from './period-links.ts';
import type { VerificationErrorCode } from './verification-error.ts';
import type { PackVerification } from './verify-pack.ts';

export type Requirement = 'integrity' | 'completeness' | 'signer' | 'time';
export const requirements: readonly Requirement[] = ['integrity', 'completeness', 'signer', 'time'];

/** The first thing that does not hold, and where: lines count from 1, the header included. */
export type ExportFault = {
  code: VerificationErrorCode;
  message: string;
  line: number;
  /** The receipt id that the line claims. */
  receipt_id: string | null;
};

/**
 * Four answers and what was asked of them. `VERIFIED`: all that was required. `INCOMPLETE`: nothing is wrong with what
 * is here, and something is missing. `UNDECIDABLE`: a key is unknown or a line too large. `NOT_VERIFIED`: it is wrong,
 * or empty.
 */
export type ExportReport = {
  verdict: EvidenceAnswer<'verdict'>;
  /** Signatures, hashes, links, records, places in the log: is each thing what it claims to be? */
  integrity: EvidenceAnswer<'integrity'>;
  /** Is it all there, from the first receipt to the end that a head statement names, each with record and proof? */
  completeness: EvidenceAnswer<'completeness'>;
  /** Did trusted keys sign it while they were valid? */
  signer: EvidenceAnswer<'signer'>;
  /** `LOGGED`: the operator's log has each receipt; `CLAIMED`: only the signer states when. No format of today has a witness. */
  time: EvidenceAnswer<'time'>;
  fault: ExportFault | null;
  /** The reasons why completeness or time are not proven, in words. */
  missing: string[];
  /** In words: no receipt of it can show these, so a report that holds says nothing about them. */
  limits: string[];
  receipts: number;
  records: number;
  proofs: number;
  heads: number;
  /** Approvals that one person gave alone, in spite of a quorum or a time lock. Each says who and why. */
  broken_glass: Count;
  /**
   * Outcomes that are `uncertain` and have an output all the same. They were not altered: older kernels sealed the
   * error for the caller in the place of an output.
   */
  issuer_defects: Count;
  /** Those of the receipts. */
  keys: string[];
  /** Each key that the report rests on, and how many statements of it hold. */
  signers: ReportedKey[];
  /** `null` when the export shows no checkpoint. */
  log: ReportedLog | null;
  issued: ExportEvidence['times'];
  /** Set for a session's export. */
  chains: ChainSummary[];
  /** Set for a period's export. */
  period: PeriodSummary | null;
  /** Set for an evidence pack. */
  pack: ReportedPack | null;
};

type Seen = {
  links: ChainLinks;
  /** For a period: replaces the links. */
  period: PeriodLinks | null;
  /** For a pack: replaces both. */
  pack: PackVerification | null;
  checkpoints: ExportCheckpoints | null;
  evidence: ExportEvidence;
  fault: ExportFault | null;
  options: {
    partial?: boolean | undefined;
    require?: readonly Requirement[] | undefined;
    earlier?: EarlierPlaces | undefined;
  };
};

export function reportOf(seen: Seen): ExportReport {
  const { links, period, pack, checkpoints, evidence } = seen;
  const fault = seen.fault ?? emptiness(seen);
  const answers = fault === null ? answersOf(seen) : answersTo(fault);
  return {
    verdict: verdictOf(answers, fault, seen.options.require ?? requirements),
    ...answers,
    fault,
    limits: fault === null ? [...limitsOf(pack), ...(seen.options.earlier?.limits() ?? [])] : [],
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

function limitsOf(pack: PackVerification | null): string[] {
  const truth = 'whether a call had the effect that its caller or server states';
  const controls = 'controls behind the decisions: only an evidence pack is compared with them';
  return [truth, ...(pack === null ? [controls] : pack.limits())];
}

function signersOf(checkpoints: ExportCheckpoints | null): ReportedKey[] {
  const counts = new Map<string, number>();
  for (const { key_id } of checkpoints?.keys ?? []) counts.set(key_id, (counts.get(key_id) ?? 0) + 1);
  return [...counts].map(([key_id, signed]) => ({ key_id, purpose: 'log', signed }));
}

type Answers = Pick<ExportReport, 'integrity' | 'completeness' | 'signer' | 'time' | 'missing'>;

function answersOf({ links, period, pack, evidence, options }: Seen): Answers {
  const gaps = (pack ?? period)?.missing() ?? missingOf(links, { partial: options.partial === true });
  const missing = [...gaps, ...evidence.missingItems(pack?.summary.scope ?? null), ...evidenceMissing(evidence)];
  return {
    integrity: 'VERIFIED',
    completeness: missing.length === 0 ? 'COMPLETE' : 'INCOMPLETE',
    signer: 'TRUSTED',
    time: evidence.unproven.count === 0 ? 'LOGGED' : 'CLAIMED',
    missing,
  };
}

const undecidable: readonly VerificationErrorCode[] = ['KEY_UNKNOWN', 'TOO_LARGE'];
/** The codes of missing evidence, without a fault in the present lines. */
export function isUndecidable(code: VerificationErrorCode): boolean {
  return undecidable.includes(code);
}
const distrusted: readonly VerificationErrorCode[] = ['KEY_REVOKED', 'KEY_EXPIRED', 'KEY_NOT_VALID_YET'];

/** Behind a fault nothing was read, so of the rest nothing is known. */
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
  };
}

function verdictOf(answers: Answers, fault: ExportFault | null, required: readonly Requirement[]) {
  if (fault !== null) return isUndecidable(fault.code) ? 'UNDECIDABLE' : 'NOT_VERIFIED';
  const isShort =
    (required.includes('completeness') && answers.completeness !== 'COMPLETE') ||
    (required.includes('time') && answers.time === 'CLAIMED');
  return isShort ? 'INCOMPLETE' : 'VERIFIED';
}

/** An export that shows nothing breaks nothing and proves nothing. The statement of an empty period is a receipt, which shows that. */
function emptiness({ links, period, pack }: Seen): ExportFault | null {
  if (pack !== null && (pack.receipts > 0 || pack.summary.stated !== null)) return null;
  if (links.receipts > 0 || (period !== null && (period.receipts > 0 || period.summary.stated !== null))) return null;
  return { code: 'EMPTY', message: 'the export has no receipts', line: 0, receipt_id: null };
}

/** A partial export has a before and an after. */
function missingOf(links: ChainLinks, { partial }: { partial: boolean }): string[] {
  const ends = links.summaries().flatMap((chain) => (partial || chain.end === 'PROVEN' ? [] : [endMissing(chain)]));
  const absent = links
    .absentChains()
    .map(({ tenant_id, session_id }) => `${tenant_id}/${session_id}: no receipt is here`);
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
