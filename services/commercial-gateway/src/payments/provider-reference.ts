import { PaymentProviderName } from '@countersign/contracts/commercial-gateway';

/**
 * Returns the ledger reference of a cash movement. It contains the provider, so references of two providers always
 * differ.
 */
export function ledgerReferenceOf(provider: PaymentProviderName, reference: string): string {
  return `${provider}:${reference}`;
}

/** Returns the provider of a cash movement and its reference there. `null` for a movement without a provider. */
export function providerReferenceOf(
  ledgerReference: string,
): { provider: PaymentProviderName; reference: string } | null {
  const end = ledgerReference.indexOf(':');
  const provider = PaymentProviderName.safeParse(ledgerReference.slice(0, end));
  return provider.success ? { provider: provider.data, reference: ledgerReference.slice(end + 1) } : null;
}
