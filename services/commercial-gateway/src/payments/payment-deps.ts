import type { BillingDeps } from '../billing-deps.ts';
import type { CommercialDatabase } from '../store/database.ts';
import type { PaymentProvider, PaymentProviders } from './payment-provider.ts';

/** Collaborators of operations that call a payment provider. */
export type PaymentDeps = BillingDeps & {
  database: Pick<CommercialDatabase, 'reader'>;
  payments: PaymentProviders;
};

/** The author of audit entries of what a provider reports. */
export function providerActor({ name }: Pick<PaymentProvider, 'name'>): string {
  return `payment-provider:${name}`;
}
