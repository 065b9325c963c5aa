import type { ReportedPack } from '@countersign/contracts/governance-kernel';
import type { ChainSummary } from './chain-links.ts';
import type { ExportFault, ExportReport } from './export-report.ts';
import { forTerminal } from './for-terminal.ts';
import type { PeriodSummary } from './period-links.ts';

/** The command's output: the verdict, the four answers, and their basis. Each line is safe to print. */
export function describeReport(report: ExportReport): string {
  const { receipts, records, proofs } = report;
  const counts = `${receipts} receipts, ${records} records, ${proofs} inclusion proofs`;
  const lines = [
    report.fault === null ? `${report.verdict}: ${counts}` : `${report.verdict}: ${faultText(report.fault)}`,
    `  integrity     ${report.integrity}`,
    `  completeness  ${report.completeness}${report.pack === null ? '' : ` of ${scopeText(report.pack)}`}`,
    ...report.missing.map((gap) => `    missing: ${gap}`),
    `  signer        ${report.signer}${report.keys.length === 0 ? '' : ` (${report.keys.join(', ')})`}`,
    `  time          ${report.time}${witnessedText(report.witnessed)}${timeText(report.issued)}`,
    ...glassText(report.broken_glass),
    ...defectsText(report.issuer_defects),
    ...report.chains.map(chainText),
    ...(report.period === null ? [] : [periodText(report.period)]),
    ...(report.pack === null ? [] : packText(report, report.pack)),
    ...report.limits.map((limit) => `  not shown     ${limit}`),
  ];
  return lines.map((line) => `${forTerminal(line)}\n`).join('');
}

/** The number of approvals by broken glass. It is shown before the chains, so that it cannot be overlooked. */
function glassText({ count, first }: ExportReport['broken_glass']): string[] {
  return count === 0 ? [] : [`  broken glass  ${count}, the first is ${first}`];
}

/** The kernel sealed these outcomes wrongly. The export was not changed. */
function defectsText({ count, first }: ExportReport['issuer_defects']): string[] {
  return count === 0
    ? []
    : [`  defects of the issuer  ${count} uncertain outcomes with an output, the first is ${first}`];
}

function faultText({ code, message, line, receipt_id }: ExportFault): string {
  const place = [...(line === 0 ? [] : [`line ${line}`]), ...(receipt_id === null ? [] : [receipt_id])];
  return `${code}: ${message}${place.length === 0 ? '' : ` (${place.join(', ')})`}`;
}

/** The bounds that witnesses set. */
function witnessedText(witnessed: ExportReport['witnessed']): string {
  return witnessed === null ? '' : ` [${witnessed.after ?? 'no earlier cosignature'}, ${witnessed.by}]`;
}

function timeText(issued: ExportReport['issued']): string {
  if (issued === null) return '';
  const { first, last, logged_after: after, logged_by: by } = issued;
  const logged = by === null ? '' : `, in the operator's log ${after === null ? '' : `after ${after} and `}by ${by}`;
  return ` (issued ${first} to ${last}${logged})`;
}

function chainText({ tenant_id, session_id, first, last, start, end, end_as_of }: ChainSummary): string {
  const since = end_as_of === null ? '' : ` as of ${end_as_of}`;
  return `  ${tenant_id}/${session_id}: ${first}–${last}, START_${start}, END_${end}${since}`;
}

function periodText({ tenant_id, from, to, sessions, stated }: PeriodSummary): string {
  const seen = stated === null ? '' : `, as of ${stated.as_of}, when the log had ${stated.log_size} receipts`;
  return `  period        ${tenant_id}, ${from} to ${to}: ${sessions} sessions${seen}`;
}

function scopeText({ scope: { tenant_id, leaves, sessions, issued }, counts }: ReportedPack): string {
  const shown = `${counts.receipts} of ${leaves.to - leaves.from} are shown`;
  const range = `${tenant_id}, leaves ${leaves.from} to ${leaves.to} of the log (${shown})`;
  if (issued !== null) return `${range}, issued ${issued.from} to ${issued.to}`;
  return sessions === null ? range : `${range}, sessions ${sessions.join(', ')}`;
}

/** The counts for the reader, and the basis of the report. */
function packText({ signers, log }: ExportReport, { counts }: ReportedPack): string[] {
  const last = log?.checkpoints.at(-1);
  return [
    `  pack          ${counts.sessions} sessions, ${counts.policies} policies`,
    `  open calls    ${counts.open_calls}`,
    `  votes without a credential of a person  ${counts.unbacked_votes}`,
    ...signers.map(({ key_id, purpose, signed }) => `  key           ${key_id} for ${purpose}, signed ${signed}`),
    ...(log === null ? [] : [`  log           ${log.origin}, ${last?.size ?? 0} leaves at ${last?.time ?? ''}`]),
  ];
}
