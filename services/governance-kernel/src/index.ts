export { kernelConfigFrom, kernelVariables } from './config.ts';
export type { KernelConfig } from './kernel-config.ts';
export { runCommand as runConformance } from './evidence/conformance/run-command.ts';
export type { Context as Kernel } from './context.ts';
export { kernelQueues } from './queues.ts';
export { startKernel, type StartedKernel, type StartOptions as KernelOverrides } from './start.ts';
