import { setImmediate } from 'node:timers/promises';
import {
  startStandardService,
  type CollectorPatience,
  type Lifecycle,
  type StartedService,
} from '@countersign/service-kit';
import { createApp } from './app.ts';
import { dispatchMsMax, type KernelConfig } from './kernel-config.ts';
import { createContext, type Context, type ContextOverrides } from './context.ts';
import { signatureLibrary } from './signers.ts';
import { startWorkers, type Workers } from './workers/start-workers.ts';

export type StartedKernel = StartedService<Context, Workers>;

export type StartOptions = ContextOverrides & { lifecycle?: Lifecycle; collectorPatience?: CollectorPatience };

/** Starts the kernel on its two ports. Migrations must have been applied. Rejects when it cannot decide safely. */
export async function startKernel(
  config: KernelConfig,
  { lifecycle, collectorPatience, ...overrides }: StartOptions = {},
): Promise<StartedKernel> {
  const { workers, ...started } = await startStandardService({
    name: 'governance-kernel',
    title: 'governance kernel',
    config,
    lifecycle,
    collectorPatience,
    createContext: (telemetry) => createContext(config, telemetry, overrides),
    prepare: registerCalls,
    workers: workersOf,
    app: createApp,
    graceMs: dispatchMsMax(config),
  });
  started.context.conformance.listensAt(started.url);
  return { ...started, workers: workers.all };
}

const workersOf = (context: Context) => ({ all: () => startWorkers(context) });

function registerCalls(context: Context, lifecycle: Lifecycle): void {
  // A terminal's Ctrl-C also ends servers over stdio. From here on, they are neither reported nor restarted.
  lifecycle.beforeClose(() => {
    context.upstreams.beginClose();
    context.mcpSessions.beginClose();
  });
  lifecycle.onClose('calls', () => endCalls(context));
  lifecycle.allow(dispatchMsMax(context.config));
  context.log.info('assertions.pinned', { key_ids: context.config.assertionKeys.map(({ keyId }) => keyId) });
  context.log.info('signatures.library', { library: signatureLibrary });
}

/**
 * Waits for sent calls within their own deadlines, with or without their callers, and stores their answers before the
 * pools close.
 */
async function endCalls({ dispatch, keptAnswers, log }: Context): Promise<void> {
  await dispatch.ended();
  await setImmediate(); // performers of ended calls store their answers in this turn
  await keptAnswers.storeHeld(log);
}
