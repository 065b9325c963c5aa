export { kernelConfigFrom, kernelVariables, type KernelConfig } from './config.ts';
export { runCommand as runConformance } from './conformance/run-command.ts';
export type { Context as Kernel, ContextOverrides as KernelOverrides } from './context.ts';
export { kernelQueues } from './queues.ts';
export { startKernel, type StartedKernel } from './start.ts';
