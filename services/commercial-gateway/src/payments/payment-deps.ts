import type { BillingDeps } from '../billing-deps.ts';
import type { CommercialDatabase } from '../store/database.ts';
import type { PaymentProvider, PaymentProviders } from './payment-provider.ts';

/** Dependencies of operations that call a payment provider. */
export type PaymentDeps = BillingDeps & {
  database: Pick<CommercialDatabase, 'reader'>;
  payments: PaymentProviders;
};

/** Returns the actor of audit entries about the events of a provider. */
export function providerActor({ name }: Pick<PaymentProvider, 'name'>): string {
  return `payment-provider:${name}`;
}
