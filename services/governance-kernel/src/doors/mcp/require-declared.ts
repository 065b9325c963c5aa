import { MissingRequiredClientCapabilityError } from '@modelcontextprotocol/server';
import type { ToolExecution } from './execute-tool.ts';

/** Throws the protocol error when the server needs a client capability that the client did not declare. */
export function requireDeclared(execution: ToolExecution, declared: Record<string, unknown>): void {
  const needed = execution.kind === 'performed' ? (execution.result.needs ?? {}) : {};
  const missing = Object.entries(needed).filter(([name]) => declared[name] === undefined);
  if (missing.length > 0)
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: Object.fromEntries(missing) });
}
