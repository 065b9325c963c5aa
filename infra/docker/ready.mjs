// Health check for containers without a shell. Exits with 0 when READY_URL answers 2xx.
const timeoutMs = 2_500;
try {
  const { ok } = await fetch(process.env.READY_URL, { signal: AbortSignal.timeout(timeoutMs) });
  process.exitCode = ok ? 0 : 1;
} catch {
  process.exitCode = 1;
}
