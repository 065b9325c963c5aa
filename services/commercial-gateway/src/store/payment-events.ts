import type { PaymentProviderName } from '@countersign/contracts/commercial-gateway';
import type { Reader, Tx } from './database.ts';

function consumerOf(provider: PaymentProviderName): string {
  return `payments.${provider}`;
}

/**
 * Returns true for an event that was already applied. Providers repeat events for days. The inbox keeps their IDs for
 * 30 days.
 */
export async function isKnownEvent(reader: Reader, provider: PaymentProviderName, messageId: string): Promise<boolean> {
  return (await reader.inboxMessage.count({ where: { consumer: consumerOf(provider), messageId } })) > 0;
}

/**
 * Claims an event for this transaction. Returns false when another transaction has applied it. Waits for a concurrent
 * transaction with the same event.
 */
export async function enterEvent(tx: Tx, provider: PaymentProviderName, messageId: string): Promise<boolean> {
  const data = { consumer: consumerOf(provider), messageId };
  return (await tx.inboxMessage.createMany({ data, skipDuplicates: true })).count === 1;
}
