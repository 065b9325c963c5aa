/** Returns the queues that this service consumes. */
export function commercialQueues(exchange: string) {
  return { directory: `${exchange}.commercial-gateway.directory` };
}
