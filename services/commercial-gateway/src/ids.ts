import {
  CheckoutId,
  ComplianceReportId,
  CreditGrantId,
  InvoiceId,
  LedgerTransactionId,
  ProjectId,
  ScimGroupId,
  ScimTokenId,
  ScimUserId,
  SubscriptionId,
} from '@countersign/contracts';
import { monotonicFactory } from 'ulid';

/** The IDs of one process always increase, so a list sorted by ID is sorted by time. */
const nextUlid = monotonicFactory();

export function newSubscriptionId(): SubscriptionId {
  return SubscriptionId.parse(`sub_${nextUlid()}`);
}

export function newInvoiceId(): InvoiceId {
  return InvoiceId.parse(`ivc_${nextUlid()}`);
}

export function newCreditGrantId(): CreditGrantId {
  return CreditGrantId.parse(`crg_${nextUlid()}`);
}

export function newLedgerTransactionId(): LedgerTransactionId {
  return LedgerTransactionId.parse(`ltx_${nextUlid()}`);
}

export function newProjectId(): ProjectId {
  return ProjectId.parse(`prj_${nextUlid()}`);
}

export function newScimTokenId(): ScimTokenId {
  return ScimTokenId.parse(`stk_${nextUlid()}`);
}

export function newCheckoutId(): CheckoutId {
  return CheckoutId.parse(`chk_${nextUlid()}`);
}

export function newComplianceReportId(): ComplianceReportId {
  return ComplianceReportId.parse(`cpr_${nextUlid()}`);
}

export function newScimUserId(): ScimUserId {
  return ScimUserId.parse(`scu_${nextUlid()}`);
}

export function newScimGroupId(): ScimGroupId {
  return ScimGroupId.parse(`scg_${nextUlid()}`);
}

export function newAuditId(): string {
  return `aud_${nextUlid()}`;
}
