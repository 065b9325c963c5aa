import { setTimeout as delay } from 'node:timers/promises';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import type { Log } from './logger.ts';
import { problemText } from './problem-text.ts';

type RunServiceOptions = {
  log: Log;
  /**
   * Builds the service and registers its parts for closing. When it throws, the reason is logged, registered parts are
   * closed, and the process ends with 2.
   */
  start(lifecycle: Lifecycle): Promise<void>;
  /** The process ends at the latest after this time, its notice, and the extra time of its parts together. */
  stopTimeoutMs?: number;
};

/** Distinguishes a failed start from a crash, since another start would fail again. */
const startFailed = 2;
const closeTimeoutMs = 10_000;

/**
 * Runs a service as this process. SIGTERM, SIGINT and SIGHUP (the terminal was closed) first make it not ready, and
 * then close its parts in reverse order. The process then ends with 0, or with 1 when a part did not close in time. A
 * second signal ends it at once with 1. An unhandled rejection or exception is logged and ends the process with 1,
 * because its state is unknown.
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
    // A stop during the start closes what the start waits for, which causes this error. The stop ends the process.
    if (wasSignalled()) return log.info('service.start_interrupted');
    log.error('service.start_failed', { problem: problemText(error) });
    log.debug('service.start_failed', { error });
    await Promise.race([lifecycle.stop(), delay(closeTimeoutMs)]);
    process.exit(startFailed); // no open resource may keep the process alive
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
  // Without a notice, closing begins at once. Otherwise a peer process that the same Ctrl-C ended could be reported as
  // lost.
  if (lifecycle.noticeMs > 0) await delay(lifecycle.noticeMs);
  const clean = await lifecycle.stop();
  log.info('service.stopped');
  process.exit(clean ? 0 : 1);
}
