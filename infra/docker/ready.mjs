// Health check of a container, which has no shell: exits 0 when READY_URL answers 200.
const timeoutMs = 2_500;
try {
  const { ok } = await fetch(process.env.READY_URL, { signal: AbortSignal.timeout(timeoutMs) });
  process.exitCode = ok ? 0 : 1;
} catch {
  process.exitCode = 1;
}
