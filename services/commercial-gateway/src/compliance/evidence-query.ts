import type { GateName, ReasonCode, Verdict } from '@countersign/contracts';
import { reasonCodes } from '@countersign/contracts';
import type { Outcome, ReceiptKind, ReceiptPayload } from '@countersign/contracts/governance-kernel';

/** Matches receipts. Every member that is present must hold. Shadow decisions never match. */
type ReceiptQuery = {
  readonly kinds: readonly ReceiptKind[];
  readonly verdicts?: readonly Verdict[];
  /** The gate that the reason code belongs to. */
  readonly gates?: readonly GateName[];
  readonly reasons?: readonly ReasonCode[];
  readonly outcomes?: readonly Outcome[];
  /** Beginnings of action names. */
  readonly actions?: readonly string[];
  readonly hasTool?: true;
  readonly hasApproval?: true;
};

/** Matches entries of the audit chain whose action begins with one of these. */
type AuditQuery = { readonly actions: readonly string[] };

/** A kind of evidence: what it shows, and the gap in words when it does not occur. It has a query over receipts, audit entries, or both. */
export type EvidenceKind = {
  readonly shows: string;
  readonly missing: string;
  readonly receipts?: ReceiptQuery;
  readonly audit?: AuditQuery;
};

export function matchesReceipt(query: ReceiptQuery, receipt: ReceiptPayload): boolean {
  const { kinds, verdicts, gates, reasons, outcomes, actions, hasTool, hasApproval } = query;
  return (
    !receipt.shadow &&
    kinds.includes(receipt.kind) &&
    isAmong(verdicts, receipt.verdict) &&
    isAmong(gates, reasonCodes[receipt.reason_code].gate) &&
    isAmong(reasons, receipt.reason_code) &&
    isAmong(outcomes, receipt.outcome) &&
    beginsWithOne(actions, receipt.action) &&
    (hasTool === undefined || receipt.tool !== null) &&
    (hasApproval === undefined || receipt.approval_id !== undefined)
  );
}

export function matchesAuditEntry({ actions }: AuditQuery, action: string): boolean {
  return beginsWithOne(actions, action);
}

function isAmong<Value>(wanted: readonly Value[] | undefined, value: Value | undefined): boolean {
  return wanted === undefined || (value !== undefined && wanted.includes(value));
}

function beginsWithOne(wanted: readonly string[] | undefined, action: string): boolean {
  return wanted === undefined || wanted.some((beginning) => action.startsWith(beginning));
}
