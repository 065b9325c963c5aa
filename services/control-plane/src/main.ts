import { createLogger, runService } from '@countersign/service-kit';
import { controlPlaneConfigFrom, startControlPlane } from './index.ts';

await runService({
  log: createLogger({ service: 'control-plane' }),
  start: async (lifecycle) => {
    await startControlPlane(controlPlaneConfigFrom(), { lifecycle });
  },
});
