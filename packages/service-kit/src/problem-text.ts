import { ConfigError } from './config.ts';

/** The failure and its causes, in one sentence for the caller, without a stack. */
export function problemText(error: unknown): string {
  if (error instanceof ConfigError) return error.problems.join('; ');
  return [...new Set(causesOf(error).map(messageOf))].filter((line) => line !== '').join(': ');
}

const causesMax = 4;

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let cause = error; cause !== undefined && causes.length < causesMax; cause = causeOf(cause)) causes.push(cause);
  return causes;
}

/** A connection that was attempted at several addresses fails with all of their errors. Only the first is reported. */
function causeOf(error: unknown): unknown {
  if (error instanceof AggregateError) return error.errors[0];
  return error instanceof Error ? error.cause : undefined;
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replaceAll(/\s+/g, ' ').trim();
}
