import type { GateName, ReasonCode, Verdict } from '@countersign/contracts';
import { reasonCodes } from '@countersign/contracts';
import type { AuditedService } from '@countersign/contracts/commercial-gateway';
import type { Outcome, ReceiptKind, ReceiptPayload } from '@countersign/contracts/governance-kernel';

/** Matches receipts that meet the condition of every present member. Shadow decisions never match. */
type ReceiptQuery = {
  readonly kinds: readonly ReceiptKind[];
  readonly verdicts?: readonly Verdict[];
  /** The gates to which the reason code of a receipt may belong. */
  readonly gates?: readonly GateName[];
  readonly reasons?: readonly ReasonCode[];
  readonly outcomes?: readonly Outcome[];
  /** Prefixes of action names. */
  readonly actions?: readonly string[];
  readonly hasTool?: true;
  readonly hasApproval?: true;
};

/** The service that stores an audit chain. This service stores the chain of the organisation. */
type ChainKeeper = 'commercial-gateway' | AuditedService;

/** Matches entries of a service's audit chains whose action begins with one of these. */
type AuditQuery = { readonly keeper: ChainKeeper; readonly actions: readonly string[] };

/**
 * A kind of evidence: what it shows, and the text of the gap when it is missing. It has a query over receipts, audit
 * entries, or both.
 */
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

export function matchesAuditEntry(query: AuditQuery, entry: { keeper: ChainKeeper; action: string }): boolean {
  return query.keeper === entry.keeper && beginsWithOne(query.actions, entry.action);
}

function isAmong<Value>(wanted: readonly Value[] | undefined, value: Value | undefined): boolean {
  return wanted === undefined || (value !== undefined && wanted.includes(value));
}

function beginsWithOne(wanted: readonly string[] | undefined, action: string): boolean {
  return wanted === undefined || wanted.some((beginning) => action.startsWith(beginning));
}
