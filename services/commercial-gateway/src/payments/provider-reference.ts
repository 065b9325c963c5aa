import { PaymentProviderName } from '@countersign/contracts/commercial-gateway';

/** The reference of a movement in the ledger. It names the provider, so references of two providers are never the same. */
export function ledgerReferenceOf(provider: PaymentProviderName, reference: string): string {
  return `${provider}:${reference}`;
}

/** The provider of a movement and its reference there. `null` for a movement of no provider. */
export function providerReferenceOf(
  ledgerReference: string,
): { provider: PaymentProviderName; reference: string } | null {
  const end = ledgerReference.indexOf(':');
  const provider = PaymentProviderName.safeParse(ledgerReference.slice(0, end));
  return provider.success ? { provider: provider.data, reference: ledgerReference.slice(end + 1) } : null;
}
