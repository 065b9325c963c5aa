import { instantOrNull, instantOf, ComplianceReportId, Digest, UserId, WorkspaceId } from '@countersign/contracts';
import {
  ComplianceFramework,
  ComplianceReport,
  ComplianceReportDetails,
  type ComplianceReportSummary,
} from '@countersign/contracts/commercial-gateway';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { canonicalize } from '@countersign/crypto';
import type { ComplianceReportModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';
import { pageOf, readCursor, type PageOf } from './page-cursor.ts';

/** Limit of stored reports of an organisation. A removed report can be built again with the same bytes. */
const keptMax = 200;

type NewReport = {
  id: ComplianceReportId;
  orgId: OrgId;
  question: string;
  framework: ComplianceFramework;
  periodFrom: Date;
  periodTo: Date;
  workspaces: WorkspaceId[];
  availableAt: Date;
  requestedBy: UserId;
  createdAt: Date;
};

/** The caller must hold the lock of the billing account, so that two equal requests insert one report. */
export async function insertReport(tx: Tx, report: NewReport): Promise<void> {
  const { orgId } = report;
  const finished = { orgId, state: { in: ['done', 'failed'] } };
  const old = await tx.complianceReport.findMany({
    ...{ where: finished, orderBy: { id: 'desc' }, skip: keptMax - 1, take: keptMax, select: { id: true } },
  });
  await tx.complianceReport.deleteMany({ where: { orgId, id: { in: old.map(({ id }) => id) } } });
  await tx.complianceReport.create({ data: { ...report, state: 'queued' } });
}

/** Queues a failed report again, from its last checkpoint. */
export async function requeueReport(tx: Tx, orgId: OrgId, id: ComplianceReportId, at: Date): Promise<void> {
  const data = { state: 'queued', failure: null, finishedAt: null, availableAt: at, createdAt: at };
  await tx.complianceReport.updateMany({ where: { orgId, id, state: 'failed' }, data });
}

export function countOpenReports(reader: Reader, orgId: OrgId): Promise<number> {
  return reader.complianceReport.count({ where: { orgId, state: { in: ['queued', 'running'] } } });
}

export async function findReportOfQuestion(
  reader: Reader,
  orgId: OrgId,
  question: string,
): Promise<ComplianceReportSummary | null> {
  const row = await reader.complianceReport.findUnique({ where: { orgId_question: { orgId, question } } });
  return row === null ? null : summaryOf(row);
}

export async function findReport(
  reader: Reader,
  orgId: OrgId,
  id: ComplianceReportId,
): Promise<ComplianceReportDetails | null> {
  const row = await reader.complianceReport.findFirst({ where: { orgId, id } });
  if (row === null) return null;
  const report = row.report === null ? null : ComplianceReport.parse(JSON.parse(row.report));
  return { ...summaryOf(row), report };
}

/** Returns a page of the reports of an organisation, newest first. */
export async function listReports(
  reader: Reader,
  orgId: OrgId,
  { limit, cursor }: PageOf,
): Promise<{ rows: ComplianceReportSummary[]; nextCursor: string | null }> {
  const before = readCursor(cursor, ComplianceReportId);
  const where = before === null ? { orgId } : { orgId, id: { lt: before } };
  const omit = { report: true, progress: true } as const;
  const found = await reader.complianceReport.findMany({ where, orderBy: { id: 'desc' }, take: limit + 1, omit });
  return pageOf(found.map(summaryOf), limit, ({ report_id }) => report_id);
}

export type ClaimedReport = {
  id: ComplianceReportId;
  orgId: OrgId;
  framework: ComplianceFramework;
  from: string;
  to: string;
  workspaces: WorkspaceId[];
  progress: string | null;
  createdAt: Date;
};

/** Claims the oldest report without a valid lease. */
export async function claimReport(
  tx: Tx,
  { lease, now, until }: { lease: string; now: Date; until: Date },
): Promise<ClaimedReport | null> {
  const [found] = await tx.$queryRaw<{ id: string; org_id: string }[]>`
    SELECT id, org_id FROM compliance_reports
     WHERE state IN ('queued', 'running') AND available_at <= ${now}
     ORDER BY available_at, id LIMIT 1 FOR UPDATE SKIP LOCKED`;
  if (found === undefined) return null;
  const data = { state: 'running', lease, availableAt: until };
  const row = await tx.complianceReport.update({ where: { id: found.id, orgId: found.org_id }, data });
  return {
    ...{ id: ComplianceReportId.parse(row.id), orgId: OrgId.parse(row.orgId), progress: row.progress },
    framework: ComplianceFramework.parse(row.framework),
    ...{ from: instantOf(row.periodFrom), to: instantOf(row.periodTo), createdAt: row.createdAt },
    workspaces: row.workspaces.map((id) => WorkspaceId.parse(id)),
  };
}

export type HeldReport = { orgId: OrgId; id: ComplianceReportId; lease: string };

/** Returns false when another worker has the report. */
export async function keepReportProgress(
  tx: Tx,
  report: HeldReport,
  { progress, receiptsRead, until }: { progress: string; receiptsRead: number; until: Date },
): Promise<boolean> {
  const data = { progress, receiptsRead: BigInt(receiptsRead), availableAt: until };
  return (await tx.complianceReport.updateMany({ where: report, data })).count === 1;
}

/** Returns false when another worker has the report. */
export async function finishReport(
  tx: Tx,
  heldReport: HeldReport,
  { report, at }: { report: ComplianceReport; at: Date },
): Promise<boolean> {
  const result = { state: 'done', report: canonicalize(report), reportHash: report.report_hash, finishedAt: at };
  const data = { ...result, progress: null, lease: null };
  return (await tx.complianceReport.updateMany({ where: heldReport, data })).count === 1;
}

/** Releases the report. Workers can claim it again from `until`. */
export async function putOffReport(tx: Tx, report: HeldReport, until: Date): Promise<void> {
  await tx.complianceReport.updateMany({ where: report, data: { lease: null, availableAt: until } });
}

export async function failReport(
  tx: Tx,
  report: HeldReport,
  { failure, at }: { failure: string; at: Date },
): Promise<void> {
  const data = { state: 'failed', failure, finishedAt: at, lease: null };
  await tx.complianceReport.updateMany({ where: report, data });
}

function summaryOf(row: Omit<ComplianceReportModel, 'report' | 'progress'>): ComplianceReportSummary {
  return {
    report_id: ComplianceReportId.parse(row.id),
    org_id: OrgId.parse(row.orgId),
    framework: ComplianceFramework.parse(row.framework),
    ...{ from: instantOf(row.periodFrom), to: instantOf(row.periodTo) },
    state: ComplianceReportDetails.shape.state.parse(row.state),
    receipts_read: Number(row.receiptsRead),
    requested_by: UserId.parse(row.requestedBy),
    created_at: instantOf(row.createdAt),
    finished_at: instantOrNull(row.finishedAt),
    failure: row.failure,
    report_hash: row.reportHash === null ? null : Digest.parse(row.reportHash),
  };
}
