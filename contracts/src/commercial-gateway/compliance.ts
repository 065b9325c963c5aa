import { z } from 'zod';
import { OrgId } from '../governance-kernel/tenants.ts';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { ComplianceReportId, Digest, Instant, ReceiptId, UserId, WorkspaceId } from '../scalars.ts';

/** Longest period of a report, in days: a year that contains 29 February. */
export const compliancePeriodDaysMax = 366;
/** Receipts, and audit entries, that a control cites. */
export const citedMax = 20;

export const ComplianceFramework = z.enum(['soc2', 'iso42001', 'eu_ai_act', 'owasp_agentic_2026', 'nist_ai_rmf']);
export type ComplianceFramework = z.infer<typeof ComplianceFramework>;

/** `evidenced`: every kind of evidence of the control occurs. `partial`: some do, or the control asks for more than receipts can show. */
const ControlStatus = z.enum(['evidenced', 'partial', 'no_evidence']);
export type ControlStatus = z.infer<typeof ControlStatus>;

const Count = z.int().min(0);

const ControlEvidence = z.strictObject({
  name: z.string(),
  /** The fact that a match proves. */
  shows: z.string(),
  receipts: Count,
  audit_entries: Count,
});

const ControlReport = z.strictObject({
  control_id: z.string(),
  title: z.string(),
  /** The requirement of the framework, in our words. */
  asks: z.string(),
  /** The contribution of this product. */
  adds: z.string(),
  status: ControlStatus,
  /** Receipts that match at least one kind of evidence. Each is counted once and verifies. */
  receipts: Count,
  /** Entries of the audit chain of the organisation that match. */
  audit_entries: Count,
  evidence: z.array(ControlEvidence),
  /** The matching receipts with the lowest hashes, in this order. */
  cited_receipts: z
    .array(z.strictObject({ workspace_id: WorkspaceId, receipt_id: ReceiptId, receipt_hash: Digest }))
    .max(citedMax),
  /** The matching audit entries with the lowest hashes, in this order. */
  cited_audit_entries: z.array(z.strictObject({ seq: z.int().min(1), hash: Digest })).max(citedMax),
  /** The missing points, one sentence each. */
  gaps: z.array(z.string()),
});
export type ControlReport = z.infer<typeof ControlReport>;

const ReportedWorkspace = z.strictObject({
  workspace_id: WorkspaceId,
  /** Receipts that were issued in the period and verify. */
  receipts: Count,
  /** Receipts of the period that do not verify. None of them is counted or cited. */
  unverifiable: Count,
  /**
   * SHA-256 over all receipts of the period: each hash is of the one before it, a line feed and the hash of the next receipt in the log. The
   * first one is of an empty text. `null` without receipts.
   */
  receipts_digest: Digest.nullable(),
});

/**
 * `report_hash` is the SHA-256 of the canonical JSON (RFC 8785) of all other members. The same period, receipts and catalogue give the same
 * bytes.
 */
export const ComplianceReport = z.strictObject({
  type: z.literal('countersign.compliance.v1'),
  framework: ComplianceFramework,
  title: z.string(),
  /** Version of the controls and their queries. */
  catalogue_version: z.int().min(1),
  org_id: OrgId,
  /** Inclusive. */
  from: Instant,
  /** Exclusive. */
  to: Instant,
  disclaimer: z.string(),
  /** How receipts and audit entries were chosen to be cited. */
  citation_rule: z.string(),
  workspaces: z.array(ReportedWorkspace),
  audit_chain: z.strictObject({
    /** Entries of the period. */
    entries: Count,
    /** False: an entry was changed or removed. No entry is counted or cited then. */
    verified: z.boolean(),
  }),
  totals: z.strictObject({ evidenced: Count, partial: Count, no_evidence: Count }),
  controls: z.array(ControlReport),
  report_hash: Digest,
});
export type ComplianceReport = z.infer<typeof ComplianceReport>;

const ReportSummary = z.strictObject({
  report_id: ComplianceReportId,
  org_id: OrgId,
  framework: ComplianceFramework,
  from: Instant,
  to: Instant,
  state: z.enum(['queued', 'running', 'done', 'failed']),
  /** Receipts that were read so far. */
  receipts_read: Count,
  requested_by: UserId,
  created_at: Instant,
  /** `null` while the report is not finished. */
  finished_at: Instant.nullable(),
  /** Why the report failed; `null` unless it did. */
  failure: z.string().nullable(),
  /** `null` unless the report is done. */
  report_hash: Digest.nullable(),
});
export type ComplianceReportSummary = z.infer<typeof ReportSummary>;

export const ComplianceReportDetails = ReportSummary.extend({
  /** `null` unless the report is done. */
  report: ComplianceReport.nullable(),
});
export type ComplianceReportDetails = z.infer<typeof ComplianceReportDetails>;

const path = '/api/commercial/compliance/reports';

export const createComplianceReport = defineRoute({
  operation: 'create-compliance-report',
  summary:
    'Build a report of what receipts and audit entries of a period evidence for the controls of a framework, in the background. The same ' +
    'request returns the same report. A report certifies nothing.',
  method: 'POST',
  path,
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'repeatable' },
  status: 202,
  bodyBytesMax: 10_000,
  body: z.strictObject({
    org_id: OrgId,
    framework: ComplianceFramework,
    /** Inclusive. */
    from: Instant,
    /** Exclusive; not in the future and at most 366 days after `from`. */
    to: Instant,
  }),
  reply: ReportSummary,
  errors: ['NOT_FOUND', 'ENTITLEMENT_REQUIRED', 'ILLEGAL_TRANSITION'],
});

export const listComplianceReports = defineRoute({
  operation: 'list-compliance-reports',
  summary: 'Reports of an organisation, newest first.',
  method: 'GET',
  path,
  auth: 'session',
  forward: {},
  query: z.strictObject({ org_id: OrgId, ...PageQuery }),
  reply: page(ReportSummary),
  errors: ['NOT_FOUND'],
});

/** Loose on purpose: what is no id has the same answer as an unknown id. */
const ReportName = z.string().min(1).max(128);

export const ComplianceReportFormat = z.enum(['json', 'print', 'oscal']);
export type ComplianceReportFormat = z.infer<typeof ComplianceReportFormat>;

export const getComplianceReport = defineRoute({
  operation: 'get-compliance-report',
  summary:
    'State and contents of a report. `format=print` is a page without scripts and `format=oscal` are assessment results of OSCAL 1.1.3, of a ' +
    'report that is done.',
  method: 'GET',
  path: `${path}/{report_id}`,
  auth: 'session',
  forward: {},
  media: 'report',
  params: z.strictObject({ report_id: ReportName }),
  query: z.strictObject({ org_id: OrgId, format: ComplianceReportFormat.default('json') }),
  reply: ComplianceReportDetails,
  errors: ['NOT_FOUND', 'ILLEGAL_TRANSITION'],
});
