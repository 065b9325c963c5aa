import { setImmediate } from 'node:timers/promises';
import { createLifecycle, serveHttp, type Lifecycle } from '@countersign/service-kit';
import { createApp, createHealthApp } from './app.ts';
import { dispatchMsMax, type KernelConfig } from './config.ts';
import { createContext, type Context, type ContextOverrides } from './context.ts';
import { startWorkers, type Workers } from './workers/start-workers.ts';

export type StartedKernel = {
  readonly url: string;
  readonly healthUrl: string;
  readonly context: Context;
  readonly workers: Workers;
  stop(): Promise<boolean>;
};

/** Starts the kernel on its two ports. Its migrations must have been applied. Rejects when it could not decide safely. */
export async function startKernel(
  config: KernelConfig,
  overrides: ContextOverrides & { lifecycle?: Lifecycle } = {},
): Promise<StartedKernel> {
  const context = await createContext(config, overrides);
  const lifecycle = overrides.lifecycle ?? createLifecycle(context.log);
  lifecycle.onClose('context', context.close);
  // A terminal's Ctrl-C reaches servers over stdio too.
  lifecycle.beforeClose(() => context.upstreams.beginClose());
  lifecycle.onClose('calls', () => endCalls(context));
  lifecycle.allow(dispatchMsMax(config));
  lifecycle.giveNotice(config.stopNoticeMs);
  context.log.info('assertions.pinned', { key_ids: config.assertionKeys.map(({ keyId }) => keyId) });
  context.relay.start();
  const workers = await startWorkers(context);
  lifecycle.onClose('workers', workers.close);
  const health = await serveHttp(createHealthApp(context, lifecycle, workers), {
    host: config.host,
    port: config.healthPort,
  });
  lifecycle.onClose('health', health.close);
  const api = await serveHttp(createApp(context, lifecycle, workers), {
    ...{ host: config.host, port: config.port },
    graceMs: dispatchMsMax(config),
  });
  lifecycle.onClose('api', api.close);
  context.conformance.listensAt(api.url);
  return { url: api.url, healthUrl: health.url, context, workers, stop: () => lifecycle.stop() };
}

/** What was sent is waited for within its own deadline, with its caller or without, and its answer is kept before the pools close. */
async function endCalls({ dispatch, keptAnswers, log }: Context): Promise<void> {
  await dispatch.ended();
  await setImmediate(); // whoever performed a call keeps its answer in the same turn
  await keptAnswers.storeHeld(log);
}
