import type { PaymentProviderName } from '@countersign/contracts/commercial-gateway';
import type { Reader, Tx } from './database.ts';

function consumerOf(provider: PaymentProviderName): string {
  return `payments.${provider}`;
}

/** True for an event that was applied. Providers repeat events for days; the inbox keeps their ids for 30 days. */
export async function isKnownEvent(reader: Reader, provider: PaymentProviderName, messageId: string): Promise<boolean> {
  return (await reader.inboxMessage.count({ where: { consumer: consumerOf(provider), messageId } })) > 0;
}

/** Returns false for an event that another transaction has applied. Waits for one that applies it now. */
export async function enterEvent(tx: Tx, provider: PaymentProviderName, messageId: string): Promise<boolean> {
  const data = { consumer: consumerOf(provider), messageId };
  return (await tx.inboxMessage.createMany({ data, skipDuplicates: true })).count === 1;
}
