import { createLogger, runService } from '@countersign/service-kit';
import { gatewayConfigFrom, startGateway } from './index.ts';

await runService({
  log: createLogger({ service: 'gateway' }),
  start: async (lifecycle) => {
    await startGateway(gatewayConfigFrom(), { lifecycle });
  },
});
