import type { Instant, TenantId } from '@countersign/contracts';
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
/** Two weeks of one run in three quarters of an hour, and small enough to be counted at once. */
const reportsKept = 500;

export type ConformanceStore = ReturnType<typeof conformanceStore>;

/** All that a run keeps and clears. */
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

/** Takes the one slot of the installation. False: another run has it. */
function beginRun(transaction: Transaction, { id, at, forgottenBefore }: Beginning): Promise<boolean> {
  return transaction(async (tx) => {
    await tx.conformanceRun.deleteMany({ where: { slot, started_at: { lt: forgottenBefore } } });
    const data = { slot, report_id: id, started_at: at };
    return (await tx.conformanceRun.createMany({ data, skipDuplicates: true })).count === 1;
  });
}

/** Leaves the slot, unless another run has taken it over. */
async function endRun(transaction: Transaction, id: string): Promise<void> {
  await transaction((tx) => tx.conformanceRun.deleteMany({ where: { slot, report_id: id } }));
}

type Settings = { tenants: readonly TenantId[]; scopes: readonly FenceScope[] };

/**
 * Removes the settings of the tenants of conformance runs. Their policies and tuples stay: neither is ever taken away,
 * and the next run confirms them.
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

/** Keeps the report and forgets the oldest. */
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

/** Newest first; `before` is the position of the last one already seen. Their results stay in the database: two hundred are megabytes. */
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

/** How the last run of any replica ended. Null: there was none. */
export async function findLastRun(
  reader: Reader,
): Promise<{ verdict: ConformanceReport['verdict']; ended_at: Instant } | null> {
  const row = await reader.conformanceReport.findFirst({
    orderBy: { position: 'desc' },
    select: { verdict: true, ended_at: true },
  });
  if (row === null) return null;
  // A constraint of the contract lists the verdicts, and toISOString writes exactly this form.
  return { verdict: row.verdict as ConformanceReport['verdict'], ended_at: row.ended_at.toISOString() as Instant };
}

/** When this installation was last seen to deny what it must deny. Null: never. */
export async function findLastProven(reader: Reader): Promise<Instant | null> {
  const row = await reader.conformanceReport.findFirst({
    where: { verdict: 'PASS' },
    orderBy: { ended_at: 'desc' },
    select: { ended_at: true },
  });
  return row === null ? null : (row.ended_at.toISOString() as Instant); // as above
}

/** A row that was damaged is no report, and its reader is told so. */
function signedOf({ report, report_hash, signature, receipt_id }: ConformanceReportModel): SignedConformanceReport {
  const read = { report: JSON.parse(report) as unknown, signature: JSON.parse(signature) as unknown };
  return SignedConformanceReport.parse({ ...read, report_hash, receipt_id });
}
