import { createLogger, runService } from '@countersign/service-kit';
import { gatewayConfigFrom, processEnvironment } from './config.ts';
import { startGateway } from './start.ts';

const log = createLogger({ service: 'gateway' });

await runService({
  log,
  start: async (lifecycle) => {
    await startGateway(gatewayConfigFrom(processEnvironment()), { lifecycle });
  },
});
