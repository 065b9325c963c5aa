import { createLogger, runService } from '@countersign/service-kit';
import { kernelConfigFrom, startKernel } from './index.ts';

await runService({
  log: createLogger({ service: 'governance-kernel' }),
  start: async (lifecycle) => {
    await startKernel(kernelConfigFrom(), { lifecycle });
  },
});
