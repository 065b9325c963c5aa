import { runStandardService } from '@countersign/service-kit';
import { commercialConfigFrom, startCommercialGateway } from './index.ts';

await runStandardService({
  name: 'commercial-gateway',
  start: (lifecycle) => startCommercialGateway(commercialConfigFrom(), { lifecycle }),
});
