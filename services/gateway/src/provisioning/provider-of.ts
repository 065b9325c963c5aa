/** The identity provider of an organisation, as the audit log names it. */
export function providerOf(orgId: string): string {
  return `identity-provider:${orgId}`;
}
