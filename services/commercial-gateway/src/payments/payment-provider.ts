import type { IncomingHttpHeaders } from 'node:http';
import type { InvoiceId } from '@countersign/contracts';
import type { PaymentProviderName } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';

/** An organisation as the provider knows it. */
export type Customer = {
  id: string;
  /** The payment method that invoices are charged to. `null` until a checkout is completed. */
  methodId: string | null;
};

type Amount = { amountMinor: bigint; currency: string };

export type CheckoutRequest = {
  checkoutId: string;
  orgId: OrgId;
  customer: Customer;
  createdAt: Date;
  purpose:
    | ({ kind: 'invoice'; invoiceId: InvoiceId; number: number } & Amount)
    /** Stores a payment method. Nothing is charged. */
    | { kind: 'subscription'; currency: string };
};

export type ChargeRequest = Amount & {
  orgId: OrgId;
  invoiceId: InvoiceId;
  /** `null` when the organisation has no customer at the provider. */
  customer: Customer | null;
  /** The payment of the invoice at the provider. `null` until it exists. */
  reference: string | null;
};

export type ChargeOutcome =
  /** The payment exists and is not charged. Store its reference, and charge again. */
  | { kind: 'prepared'; reference: string }
  | ({ kind: 'succeeded'; reference: string } & Amount)
  /** The provider reports the result by an event. */
  | { kind: 'processing' }
  | { kind: 'refused'; code: string }
  /** The organisation pays by itself, and nothing is charged. */
  | { kind: 'not_charged' };

export type RefundRequest = Amount & {
  orgId: OrgId;
  invoiceId: InvoiceId;
  paymentReference: string;
  /** Identifies the refund. The provider refunds it once. */
  reference: string;
};

export type RefundOutcome =
  { kind: 'succeeded'; reference: string } | { kind: 'processing' } | { kind: 'refused'; code: string };

/** The owner of a fact. A customer is looked up; an event of the manual provider names the organisation. */
export type FactOwner = { kind: 'customer'; customerId: string } | { kind: 'org'; orgId: OrgId };

/** The current state at the provider. */
export type PaymentFact =
  | ({ kind: 'paid'; owner: FactOwner; invoiceId: InvoiceId; reference: string; methodId: string | null } & Amount)
  | { kind: 'refused'; owner: FactOwner; invoiceId: InvoiceId; reference: string; code: string }
  | ({ kind: 'refunded'; owner: FactOwner; invoiceId: InvoiceId; reference: string } & RefundedPayment & Amount)
  | { kind: 'checked_out'; owner: FactOwner; checkoutId: string; methodId: string | null; payment: PagePayment | null };

export type RefundedPayment = {
  /** The payment at the provider that was refunded. `null` when the provider does not name it. */
  paymentReference: string | null;
  /** The reference of the refund that was requested here. `null` for a refund that a person made at the provider. */
  requested: string | null;
};

/** The payment of an invoice on the page of a checkout. `received` is `null` while the provider processes it. */
export type PagePayment = { reference: string; received: Amount | null };

export type VerifiedEvent = {
  id: string;
  type: string;
  /** Fetches the object of the event, because events arrive in any order. `null` when the event changes nothing here. */
  read(): Promise<PaymentFact | null>;
};

export type ReceivedEvent = { body: Buffer; headers: IncomingHttpHeaders; now: Date };

/** A way to be paid. Methods that call the provider throw PAYMENT_PROVIDER_UNAVAILABLE when its answer is unknown. */
export type PaymentProvider = {
  readonly name: PaymentProviderName;
  /** Returns the customer id of an organisation. Throws GATE_NOT_PASSED when the provider keeps no customers. */
  ensureCustomer(org: { orgId: OrgId; name: string }): Promise<string>;
  /** Returns the address of a page for the payer. Throws GATE_NOT_PASSED when the provider has no pages. */
  checkout(request: CheckoutRequest): Promise<{ url: string }>;
  charge(request: ChargeRequest): Promise<ChargeOutcome>;
  refund(request: RefundRequest): Promise<RefundOutcome>;
  /** Throws SIGNATURE_INVALID for an event that is not signed, or not signed in the last 5 minutes. */
  parseEvent(event: ReceivedEvent): VerifiedEvent;
};

/** The provider that charges, and all providers whose events are accepted. */
export type PaymentProviders = {
  readonly charging: PaymentProvider;
  readonly byName: Readonly<Partial<Record<PaymentProviderName, PaymentProvider>>>;
};
