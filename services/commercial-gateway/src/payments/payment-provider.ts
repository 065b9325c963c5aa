import type { IncomingHttpHeaders } from 'node:http';
import type { InvoiceId } from '@countersign/contracts';
import type { PaymentProviderName } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';

/** The customer record of an organisation at the provider. */
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
    /** The page only stores a payment method. Nothing is charged. */
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
  /** The payment was created and is not charged yet. Store its reference, then charge again. */
  | { kind: 'prepared'; reference: string }
  | ({ kind: 'succeeded'; reference: string } & Amount)
  /** The provider reports the result later with an event. */
  | { kind: 'processing' }
  | { kind: 'refused'; code: string }
  /** The provider does not charge. The organisation pays by transfer. */
  | { kind: 'not_charged' };

export type RefundRequest = Amount & {
  orgId: OrgId;
  invoiceId: InvoiceId;
  paymentReference: string;
  /** Identifies the refund. The provider refunds each reference only once. */
  reference: string;
};

export type RefundOutcome =
  { kind: 'succeeded'; reference: string } | { kind: 'processing' } | { kind: 'refused'; code: string };

/**
 * The organisation that a payment fact concerns: its customer ID at the provider, or its own ID for events of the
 * manual provider.
 */
export type FactOwner = { kind: 'customer'; customerId: string } | { kind: 'org'; orgId: OrgId };

/** The current state of a payment, refund or checkout at the provider. */
export type PaymentFact =
  | ({ kind: 'paid'; owner: FactOwner; invoiceId: InvoiceId; reference: string; methodId: string | null } & Amount)
  | { kind: 'refused'; owner: FactOwner; invoiceId: InvoiceId; reference: string; code: string }
  | RefundedFact
  | {
      kind: 'checked_out';
      owner: FactOwner;
      checkoutId: string;
      methodId: string | null;
      payment: ProviderPayment | null;
    };

export type RefundedFact = Amount & {
  kind: 'refunded';
  owner: FactOwner;
  invoiceId: InvoiceId;
  reference: string;
  /** The payment at the provider that was refunded. `null` when the provider does not name it. */
  payment: ProviderPayment | null;
  /** The reference of the refund that was requested here. `null` for a refund that a person made at the provider. */
  requested: string | null;
};

/** A payment of an invoice at the provider. `received` is `null` while the provider processes the payment. */
export type ProviderPayment = { reference: string; received: Amount | null };

export type VerifiedEvent = {
  id: string;
  type: string;
  /**
   * Fetches the current object of the event, because events arrive in any order. `null` when the event is irrelevant.
   */
  read(): Promise<PaymentFact | null>;
};

export type ReceivedEvent = { body: Buffer; headers: IncomingHttpHeaders; now: Date };

/** A payment provider. Methods that call it throw PAYMENT_PROVIDER_UNAVAILABLE when its answer is unknown. */
export type PaymentProvider = {
  readonly name: PaymentProviderName;
  /** Returns the customer id of an organisation. Throws GATE_NOT_PASSED when the provider keeps no customers. */
  ensureCustomer(org: { orgId: OrgId; name: string }): Promise<string>;
  /** Returns the address of a page for the payer. Throws GATE_NOT_PASSED when the provider has no pages. */
  checkout(request: CheckoutRequest): Promise<{ url: string }>;
  charge(request: ChargeRequest): Promise<ChargeOutcome>;
  refund(request: RefundRequest): Promise<RefundOutcome>;
  /**
   * Throws SIGNATURE_INVALID for an invalid signature, and for one whose time is more than 5 minutes from now. Throws
   * INVALID_REQUEST for a malformed event, and NOT_FOUND when the provider accepts no events.
   */
  parseEvent(event: ReceivedEvent): VerifiedEvent;
};

/** The provider that charges invoices, and all providers whose events are accepted. */
export type PaymentProviders = {
  readonly charging: PaymentProvider;
  readonly byName: Readonly<Partial<Record<PaymentProviderName, PaymentProvider>>>;
};
