import type { Transaction } from './database.ts';

/** The channel on which kernels of one database pass messages of MCP sessions to each other. */
export const sessionChannel = 'kernel_mcp_sessions';

/** Sends a notice to every kernel that listens. A notice has at most 7,999 bytes. */
export function sessionNotices(transaction: Transaction): (payload: string) => Promise<void> {
  return async (payload) => {
    await transaction((tx) => tx.$executeRaw`SELECT pg_notify(${sessionChannel}, ${payload})`);
  };
}
