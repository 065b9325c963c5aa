import { z } from 'zod';
import { OrgId } from '../governance-kernel/tenants.ts';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { ComplianceReportId, Digest, Instant, ReceiptId, UserId, WorkspaceId } from '../scalars.ts';

/** Longest period of a report, in days: a year that contains 29 February. */
export const compliancePeriodDaysMax = 366;
/** The most receipts, and the most audit entries, that a control cites. */
export const citedMax = 20;

export const ComplianceFramework = z.enum(['soc2', 'iso42001', 'eu_ai_act', 'owasp_agentic_2026', 'nist_ai_rmf']);
export type ComplianceFramework = z.infer<typeof ComplianceFramework>;

/**
 * `evidenced`: all kinds of evidence of the control occur. `partial`: some occur, or the control needs more than
 * receipts can show.
 */
const ControlStatus = z.enum(['evidenced', 'partial', 'no_evidence']);
export type ControlStatus = z.infer<typeof ControlStatus>;

const Count = z.int().min(0);

/** A service that keeps an audit chain of each workspace. */
export const AuditedService = z.enum(['gateway', 'control-plane']);
export type AuditedService = z.infer<typeof AuditedService>;

/** The chain of a workspace at a service. */
const WorkspaceChain = z.strictObject({ service: AuditedService, workspace_id: WorkspaceId });

const ControlEvidence = z.strictObject({
  name: z.string(),
  /** The fact that a matching receipt or audit entry proves. */
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
  /** Matching entries in the audit chains of the organisation and of its workspaces. */
  audit_entries: Count,
  evidence: z.array(ControlEvidence),
  /** The matching receipts with the lowest hashes, in ascending order. */
  cited_receipts: z
    .array(z.strictObject({ workspace_id: WorkspaceId, receipt_id: ReceiptId, receipt_hash: Digest }))
    .max(citedMax),
  /** The matching audit entries with the lowest hashes, in ascending order. */
  cited_audit_entries: z
    .array(
      z.strictObject({
        seq: z.int().min(1),
        hash: Digest,
        /** The chain of a workspace. Absent when the entry is in the chain of the organisation. */
        chain: WorkspaceChain.optional(),
      }),
    )
    .max(citedMax),
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
   * A SHA-256 over all receipts of the period, in the order of the log. It begins with the hash of an empty text. For
   * each receipt, it becomes the hash of its previous value, a line feed and the hash of the receipt. `null` without
   * receipts.
   */
  receipts_digest: Digest.nullable(),
});

/**
 * `report_hash` is the SHA-256 of the canonical JSON (RFC 8785) of all other members. The same period, receipts and
 * catalogue give the same bytes.
 */
export const ComplianceReport = z.strictObject({
  type: z.literal('countersign.compliance.v1'),
  framework: ComplianceFramework,
  title: z.string(),
  /** Version of the controls and their queries. */
  catalogue_version: z.int().min(1),
  org_id: OrgId,
  /** The start of the period, inclusive. */
  from: Instant,
  /** The end of the period, exclusive. */
  to: Instant,
  disclaimer: z.string(),
  /** The selection rule for cited receipts and audit entries. */
  citation_rule: z.string(),
  workspaces: z.array(ReportedWorkspace),
  /** The chain of the organisation. */
  audit_chain: z.strictObject({
    /** Entries of the period. */
    entries: Count,
    /** `false` when an entry was changed or removed. Then no entry is counted or cited. */
    verified: z.boolean(),
  }),
  /**
   * The chains of the workspaces. Absent in reports of catalogue version 1, which read only the organisation's chain.
   */
  workspace_audit_chains: z
    .array(
      z.strictObject({
        ...WorkspaceChain.shape,
        /** Entries of the period. */
        entries: Count,
        /** `false` when the chain is missing, or an entry was changed or removed. Then no entry is counted or cited. */
        verified: z.boolean(),
      }),
    )
    .optional(),
  totals: z.strictObject({
    evidenced: Count,
    /** Controls with partial evidence. */
    partial: Count,
    no_evidence: Count,
  }),
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
  /** Receipts that have been read so far. */
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
    'Create a compliance report for a framework and a period, in the background. The same request returns the ' +
    'same report. A report certifies nothing.',
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
    /** The start of the period, inclusive. */
    from: Instant,
    /** The end of the period, exclusive. It must not be in the future or more than 366 days after `from`. */
    to: Instant,
  }),
  reply: ReportSummary,
  errors: ['NOT_FOUND', 'ENTITLEMENT_REQUIRED', 'ILLEGAL_TRANSITION'],
});

export const listComplianceReports = defineRoute({
  operation: 'list-compliance-reports',
  summary: 'List the compliance reports of an organisation, newest first.',
  method: 'GET',
  path,
  auth: 'session',
  forward: {},
  query: z.strictObject({ org_id: OrgId, ...PageQuery }),
  reply: page(ReportSummary),
  errors: ['NOT_FOUND'],
});

/** Accepts any text, so that a malformed id gets the same answer as an unknown one. */
const ReportName = z.string().min(1).max(128);

export const ComplianceReportFormat = z.enum(['json', 'print', 'oscal']);
export type ComplianceReportFormat = z.infer<typeof ComplianceReportFormat>;

export const getComplianceReport = defineRoute({
  operation: 'get-compliance-report',
  summary:
    'Get the state and contents of a compliance report. Finished reports can be requested as a printable page ' +
    '(`format=print`) or OSCAL 1.1.3 results (`format=oscal`).',
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
