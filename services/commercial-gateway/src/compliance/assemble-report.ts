import {
  ComplianceReport,
  type ComplianceFramework,
  type ControlReport,
  type ControlStatus,
} from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { canonicalize, digestOf } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { catalogue, catalogueVersion } from './catalogue.ts';
import { evidenceKindOf } from './frameworks/evidence-kinds.ts';
import type { EvidenceTally } from './evidence-tally.ts';
import type { Control } from './frameworks/framework.ts';
import type { CountedChain, WorkspaceChain } from './read-audit-of-period.ts';
import type { WorkspaceTally } from './report-progress.ts';

const disclaimer =
  'This report certifies nothing. It states which signed receipts and audit entries exist for a control, and what is missing. Whether the ' +
  'control is met is for an auditor to decide. It contains what the kernel returned: a verified export of the period shows whether that is all.';

const citationRule =
  'For each control, the 20 receipts that match, verify and have the lowest receipt_hash are cited, in that order. From the audit entries that ' +
  'match, the 20 with the lowest hash are cited.';

type Question = { orgId: OrgId; framework: ComplianceFramework; from: string; to: string };

type Findings = {
  workspaces: readonly WorkspaceTally[];
  /** The audit chain of the organisation. */
  audit: CountedChain;
  /** The audit chains of the workspaces at the other services. */
  chains: (WorkspaceChain & CountedChain)[];
  tally: EvidenceTally;
};

/** Builds the report from the counts alone, so equal counts give equal bytes. */
export function assembleReport(
  { orgId, framework, from, to }: Question,
  { workspaces, audit, chains, tally }: Findings,
): ComplianceReport {
  const { title, controls } = catalogue[framework];
  const unverifiable = workspaces.reduce((sum, workspace) => sum + workspace.unverifiable, 0);
  const faults = [
    ...(unverifiable === 0 ? [] : [`${unverifiable} receipts of the period do not verify and are not counted.`]),
    ...(audit.verified
      ? []
      : ['The audit chain of the organisation does not verify, so none of its entries is counted.']),
    ...chains
      .filter(({ verified }) => !verified)
      .map(
        ({ service, workspace_id }) =>
          `The audit chain of ${workspace_id} at the ${service} is missing or does not verify, so none of its entries is counted.`,
      ),
  ];
  const reported = controls.map((control) => reportControl(control, tally, faults));
  const countOf = (status: ControlStatus) => reported.filter((control) => control.status === status).length;
  const contents = {
    ...{ type: 'countersign.compliance.v1', framework, title, catalogue_version: catalogueVersion },
    ...{ org_id: orgId, from, to, disclaimer, citation_rule: citationRule },
    workspaces: workspaces.map(({ workspaceId, receipts, unverifiable: failed, digest }) => ({
      ...{ workspace_id: workspaceId, receipts, unverifiable: failed, receipts_digest: digest },
    })),
    audit_chain: audit,
    workspace_audit_chains: chains,
    totals: {
      ...{ evidenced: countOf('evidenced'), partial: countOf('partial'), no_evidence: countOf('no_evidence') },
    },
    controls: reported,
  };
  return ComplianceReport.parse({ ...contents, report_hash: digestOf(nodeProvider, canonicalize(contents)) });
}

function reportControl(control: Control, tally: EvidenceTally, faults: readonly string[]): ControlReport {
  const { id, title, asks, adds, beyondReceipts } = control;
  const { receipts, auditEntries, citedReceipts, citedEntries } = tally.controlOf(id);
  const evidence = control.evidence.map((name) => ({ name, kind: evidenceKindOf(name), counts: tally.countsOf(name) }));
  const missing = evidence.filter(({ counts }) => counts.receipts + counts.auditEntries === 0);
  const gaps = [
    ...missing.map(({ kind }) => kind.missing),
    ...(beyondReceipts === null ? [] : [beyondReceipts]),
    ...faults,
  ];
  return {
    ...{ control_id: id, title, asks, adds, receipts, audit_entries: auditEntries, gaps },
    status: statusOf({ total: receipts + auditEntries, gaps: gaps.length }),
    evidence: evidence.map(({ name, kind, counts }) => ({
      ...{ name, shows: kind.shows, receipts: counts.receipts, audit_entries: counts.auditEntries },
    })),
    cited_receipts: citedReceipts,
    cited_audit_entries: citedEntries,
  };
}

/** A control without matches has no evidence. A control with matches and without gaps is evidenced. */
function statusOf({ total, gaps }: { total: number; gaps: number }): ControlStatus {
  if (total === 0) return 'no_evidence';
  return gaps === 0 ? 'evidenced' : 'partial';
}
