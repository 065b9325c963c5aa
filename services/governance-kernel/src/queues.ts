/** The queues that this service takes messages from. */
export function kernelQueues(exchange: string) {
  return {
    fences: `${exchange}.governance-kernel.fences`,
    members: `${exchange}.governance-kernel.members`,
  };
}
