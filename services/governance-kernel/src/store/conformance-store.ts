import { instantOf, type Instant, type TenantId } from '@countersign/contracts';
import {
  ReportSummary,
  SignedConformanceReport,
  type ConformanceReport,
  type FenceScope,
} from '@countersign/contracts/governance-kernel';
import { canonicalize, parsePlainJson } from '@countersign/crypto';
import { z } from 'zod';
import type { ConformanceReportModel } from '../generated/prisma/models.ts';
import type { Reader, Transaction, Tx } from './database.ts';

const slot = 1;
/** The limit of stored reports: enough for two weeks with a run every 45 minutes. */
const reportsKept = 500;

export type ConformanceStore = ReturnType<typeof conformanceStore>;

/** The storage of conformance runs. */
export function conformanceStore({ reader, transaction }: { reader: Reader; transaction: Transaction }) {
  return {
    beginRun: (beginning: Beginning) => beginRun(transaction, beginning),
    endRun: (id: string) => endRun(transaction, id),
    forgetSettings: (settings: Settings) => transaction((tx) => forgetSettings(tx, settings)),
    countOpenCalls: (tenant: string) => countOpenCalls(reader, tenant),
    recordReport: (signed: SignedConformanceReport) => recordReport(transaction, signed),
  };
}

type Beginning = { id: string; at: Date; forgottenBefore: Date };

/** Claims the installation's only slot for runs. `false` when another run has it. */
function beginRun(transaction: Transaction, { id, at, forgottenBefore }: Beginning): Promise<boolean> {
  return transaction(async (tx) => {
    await tx.conformanceRun.deleteMany({ where: { slot, started_at: { lt: forgottenBefore } } });
    const data = { slot, report_id: id, started_at: at };
    return (await tx.conformanceRun.createMany({ data, skipDuplicates: true })).count === 1;
  });
}

/** Frees the slot, unless another run has taken it over. */
async function endRun(transaction: Transaction, id: string): Promise<void> {
  await transaction((tx) => tx.conformanceRun.deleteMany({ where: { slot, report_id: id } }));
}

type Settings = { tenants: readonly TenantId[]; scopes: readonly FenceScope[] };

/**
 * Removes the settings of the tenants of conformance runs. Policies and tuples stay, since they are never removed, and
 * the next run confirms them.
 */
async function forgetSettings(tx: Tx, { tenants, scopes }: Settings): Promise<void> {
  const ofTenants = { where: { tenant_id: { in: [...tenants] } } };
  await tx.fence.deleteMany({ where: { scope: { in: [...scopes] } } });
  await tx.toolBlocks.deleteMany(ofTenants);
  await tx.accessKey.deleteMany(ofTenants);
  await tx.budget.deleteMany(ofTenants);
  await tx.approval.deleteMany(ofTenants);
  await tx.approvalTerms.deleteMany(ofTenants);
  await tx.policyCeilings.deleteMany(ofTenants);
  await tx.tenantOrg.deleteMany(ofTenants);
}

function countOpenCalls(reader: Reader, tenant: string): Promise<number> {
  return reader.dispatch.count({ where: { tenant_id: tenant } });
}

/** Stores the report and removes the oldest ones. */
async function recordReport(transaction: Transaction, signed: SignedConformanceReport): Promise<void> {
  const { report, report_hash, signature, receipt_id } = signed;
  await transaction(async (tx) => {
    const { position } = await tx.conformanceReport.create({
      data: {
        report_id: report.report_id,
        verdict: report.verdict,
        ended_at: new Date(report.ended_at),
        report: canonicalize(parsePlainJson(report)),
        report_hash,
        signature: JSON.stringify(signature),
        receipt_id,
      },
    });
    await tx.conformanceReport.deleteMany({ where: { position: { lte: position - BigInt(reportsKept) } } });
  });
}

export async function findReport(reader: Reader, id: string): Promise<SignedConformanceReport | null> {
  const row = await reader.conformanceReport.findUnique({ where: { report_id: id } });
  return row === null ? null : signedOf(row);
}

const SummaryRow = z.object({ summary: ReportSummary, position: z.bigint() });

/**
 * Lists reports, newest first. `before` is the position of the last report of the previous page. Results are omitted,
 * since the results of two hundred reports have several megabytes.
 */
export async function listReports(
  reader: Reader,
  { limit, before }: { limit: number; before: number | null },
): Promise<{ summary: z.infer<typeof ReportSummary>; position: number }[]> {
  const rows = await reader.$queryRaw`
    SELECT (report::jsonb - '{results,type}'::text[])
        || jsonb_build_object('report_hash', report_hash, 'receipt_id', receipt_id) AS summary, position
      FROM conformance_reports WHERE position < ${before ?? Number.MAX_SAFE_INTEGER} ORDER BY position DESC LIMIT ${limit}`;
  return z
    .array(SummaryRow)
    .parse(rows)
    .map(({ summary, position }) => ({ summary, position: Number(position) }));
}

/** The result of the last run of any replica. `null` when there was none. */
export async function findLastRun(
  reader: Reader,
): Promise<{ verdict: ConformanceReport['verdict']; ended_at: Instant } | null> {
  const row = await reader.conformanceReport.findFirst({
    orderBy: { position: 'desc' },
    select: { verdict: true, ended_at: true },
  });
  if (row === null) return null;
  // recordReport stored the verdict of a report, and toISOString writes exactly this form.
  return { verdict: row.verdict as ConformanceReport['verdict'], ended_at: instantOf(row.ended_at) };
}

/** When this installation last passed a conformance run. `null` when it never has. */
export async function findLastProven(reader: Reader): Promise<Instant | null> {
  const row = await reader.conformanceReport.findFirst({
    where: { verdict: 'PASS' },
    orderBy: { ended_at: 'desc' },
    select: { ended_at: true },
  });
  return row === null ? null : instantOf(row.ended_at);
}

/** The signed report in a row. Throws for a damaged row. */
function signedOf({ report, report_hash, signature, receipt_id }: ConformanceReportModel): SignedConformanceReport {
  const read = { report: JSON.parse(report) as unknown, signature: JSON.parse(signature) as unknown };
  return SignedConformanceReport.parse({ ...read, report_hash, receipt_id });
}
