import { createLifecycle, serveHttp, type Lifecycle } from '@countersign/service-kit';
import { createApp, createHealthApp } from './app.ts';
import type { KernelConfig } from './config.ts';
import { createContext, type Kernel, type KernelOverrides } from './context.ts';

export { kernelConfigFrom, type KernelConfig } from './config.ts';
export type { Kernel, KernelOverrides } from './context.ts';

export type RunningKernel = { url: string; healthUrl: string; context: Kernel; stop(): Promise<boolean> };

/** Starts the kernel on its two ports. Its migrations must have been applied. Rejects when it could not decide safely. */
export async function startKernel(
  config: KernelConfig,
  overrides: KernelOverrides & { lifecycle?: Lifecycle } = {},
): Promise<RunningKernel> {
  const context = await createContext(config, overrides);
  const lifecycle = overrides.lifecycle ?? createLifecycle(context.log);
  lifecycle.onClose('context', context.close);
  const health = await serveHttp(createHealthApp(context, lifecycle), {
    host: config.GOV_BIND_ADDR,
    port: config.GOV_HEALTH_PORT,
  });
  lifecycle.onClose('health', health.close);
  const api = await serveHttp(createApp(context, lifecycle), { host: config.GOV_BIND_ADDR, port: config.GOV_PORT });
  lifecycle.onClose('api', api.close);
  return { url: api.url, healthUrl: health.url, context, stop: () => lifecycle.stop() };
}
