/** The queues that this service receives messages from. */
export function commercialQueues(exchange: string) {
  return { directory: `${exchange}.commercial-gateway.directory` };
}
