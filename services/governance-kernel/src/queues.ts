/** The queues that this service consumes. */
export function kernelQueues(exchange: string) {
  return {
    fences: `${exchange}.governance-kernel.fences`,
    members: `${exchange}.governance-kernel.members`,
  };
}
