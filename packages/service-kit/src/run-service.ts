import { setTimeout as delay } from 'node:timers/promises';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import type { Log } from './logger.ts';
import { problemText } from './problem-text.ts';

type RunServiceOptions = {
  log: Log;
  /** Builds the service and registers what is to be closed. When it throws, the reason is told, what was registered is closed, and the process ends with 2. */
  start(lifecycle: Lifecycle): Promise<void>;
  /** After this, and what the parts were allowed beside, the process ends whatever still runs. */
  stopTimeoutMs?: number;
};

/** Distinguishes a failed start from a crash: starting again will not help. */
const startFailed = 2;
const closeTimeoutMs = 10_000;

/**
 * Runs a service as this process: SIGTERM, SIGINT and SIGHUP (the terminal was closed) make it not ready, then close it in reverse,
 * then exit 0; a second signal exits at once with 1. An unhandled rejection or exception is logged and ends the process with 1: its state is unknown.
 */
export async function runService(options: RunServiceOptions): Promise<void> {
  const { log } = options;
  const lifecycle = createLifecycle(log);
  let isSignalled = false;
  const wasSignalled = (): boolean => isSignalled;

  const onSignal = (signal: NodeJS.Signals) => {
    if (isSignalled) process.exit(1);
    isSignalled = true;
    log.info('service.stopping', { signal });
    void stopThenExit(lifecycle, options);
  };
  const onFault = (error: unknown) => {
    log.error('service.fault', { error });
    process.exit(1);
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal);
  process.on('unhandledRejection', onFault).on('uncaughtException', onFault);
  try {
    await options.start(lifecycle);
    log.info(wasSignalled() ? 'service.start_interrupted' : 'service.started');
  } catch (error) {
    // The stop closes what the start waits for: its error is about that, and the stop ends the process.
    if (wasSignalled()) return log.info('service.start_interrupted');
    log.error('service.start_failed', { problem: problemText(error) });
    log.debug('service.start_failed', { error });
    await Promise.race([lifecycle.stop(), delay(closeTimeoutMs)]);
    process.exit(startFailed); // whatever else was opened must not keep the process
  }
}

async function stopThenExit(lifecycle: Lifecycle, options: RunServiceOptions): Promise<void> {
  const { log, stopTimeoutMs = 30_000 } = options;
  const timeoutMs = stopTimeoutMs + lifecycle.allowedMs + lifecycle.noticeMs;
  const late = setTimeout(() => {
    log.error('service.stop_timed_out', { timeout_ms: timeoutMs });
    process.exit(1);
  }, timeoutMs);
  late.unref();
  lifecycle.beginStop();
  // Without a notice the close begins at once: a peer that got the same Ctrl-C ends too, and must not be reported as
  // lost.
  if (lifecycle.noticeMs > 0) await delay(lifecycle.noticeMs);
  const clean = await lifecycle.stop();
  log.info('service.stopped');
  process.exit(clean ? 0 : 1);
}
