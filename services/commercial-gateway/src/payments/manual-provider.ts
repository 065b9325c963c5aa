import { AppError } from '@countersign/contracts';
import { ManualPaymentEvent } from '@countersign/contracts/commercial-gateway';
import { signedEvent } from './signed-event.ts';
import type { PaymentFact, PaymentProvider } from './payment-provider.ts';

/**
 * Creates the provider for payments by transfer. An accounting system reports the transfers as signed events. `secret`
 * is `null` when no such system is configured.
 */
export function createManualProvider(secret: string | null): PaymentProvider {
  return {
    name: 'manual',
    ensureCustomer: () => Promise.reject(withoutPages()),
    checkout: () => Promise.reject(withoutPages()),
    charge: () => Promise.resolve({ kind: 'not_charged' }),
    // The operator has already transferred the money. The accounting system reports the transfer with the same
    // reference.
    refund: ({ reference }) => Promise.resolve({ kind: 'succeeded', reference }),
    parseEvent: (received) => {
      if (secret === null)
        throw new AppError(
          'NOT_FOUND',
          'This object does not exist, or you have no access to it. Check its ID and the workspace',
        );
      const { id, type, data } = signedEvent(received, ManualPaymentEvent, {
        header: 'countersign-signature',
        secret,
      });
      return { id, type, read: () => Promise.resolve(factOf({ type, data })) };
    },
  };
}

function factOf({ type, data }: Pick<ManualPaymentEvent, 'type' | 'data'>): PaymentFact {
  const owner = { kind: 'org', orgId: data.tenant_id } as const;
  const amount = { amountMinor: BigInt(data.amount_minor), currency: data.currency };
  const about = { owner, invoiceId: data.invoice_id, reference: data.reference, ...amount };
  return type === 'payment.received'
    ? { kind: 'paid', ...about, methodId: null }
    : { kind: 'refunded', ...about, payment: null, requested: null };
}

function withoutPages(): AppError {
  return new AppError('GATE_NOT_PASSED', 'This installation has no payment page. Pay the invoice by transfer', {
    details: { missing: ['payment_provider'] },
  });
}
