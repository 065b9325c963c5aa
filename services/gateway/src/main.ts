import { runStandardService } from '@countersign/service-kit';
import { gatewayConfigFrom, startGateway } from './index.ts';

await runStandardService({
  name: 'gateway',
  start: (lifecycle) => startGateway(gatewayConfigFrom(), { lifecycle }),
});
