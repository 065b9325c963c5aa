import { runStandardService } from '@countersign/service-kit';
import { controlPlaneConfigFrom, startControlPlane } from './index.ts';

await runStandardService({
  name: 'control-plane',
  start: (lifecycle) => startControlPlane(controlPlaneConfigFrom(), { lifecycle }),
});
