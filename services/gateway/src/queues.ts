/** The queues that this service consumes. */
export function gatewayQueues(exchange: string) {
  return {
    runs: `${exchange}.gateway.runs`,
    approvals: `${exchange}.gateway.approvals`,
    incidents: `${exchange}.gateway.incidents`,
    entitlements: `${exchange}.gateway.entitlements`,
    people: `${exchange}.gateway.people`,
    ends: `${exchange}.gateway.ends-of-access`,
    signInRules: `${exchange}.gateway.sign-in-rules`,
  };
}
