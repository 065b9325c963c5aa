/** The queues that this service takes messages from. */
export function gatewayQueues(exchange: string) {
  return {
    runs: `${exchange}.gateway.runs`,
    approvals: `${exchange}.gateway.approvals`,
    incidents: `${exchange}.gateway.incidents`,
    entitlements: `${exchange}.gateway.entitlements`,
    people: `${exchange}.gateway.people`,
  };
}
