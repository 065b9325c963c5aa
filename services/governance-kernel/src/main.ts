import { runStandardService } from '@countersign/service-kit';
import { kernelConfigFrom, startKernel } from './index.ts';

await runStandardService({
  name: 'governance-kernel',
  start: (lifecycle) => startKernel(kernelConfigFrom(), { lifecycle }),
});
