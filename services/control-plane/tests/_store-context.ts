import { fileURLToPath } from 'node:url';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import { openTelemetry } from '@countersign/service-kit';
import { controlPlaneConfigFrom } from '../src/config.ts';
import { createContext, type Context } from '../src/context.ts';

/** A context with its own database, without running siblings. */
export async function openStoreContext(
  clocks?: Parameters<typeof createContext>[2],
): Promise<{ context: Context; database: TestDatabase; close(): Promise<void> }> {
  const serviceDir = fileURLToPath(new URL('..', import.meta.url));
  const scratch = await createTestDatabase({ serviceDir, schema: 'control_plane' });
  const config = controlPlaneConfigFrom({
    DATABASE_URL: scratch.url,
    GOV_GATEWAY_URL: 'http://127.0.0.1:9',
    GOV_GOVERNANCE_URL: 'http://127.0.0.1:9',
    GOV_SERVICE_API_KEY: 'service-key-'.repeat(4),
    GOV_SESSION_SECRET: 'console-secret-'.repeat(3),
    GOV_LOG_LEVEL: 'silent',
  });
  const telemetry = await openTelemetry(config.collector, { service: 'control-plane', version: 'test' });
  const context = createContext(config, telemetry, clocks);
  return {
    context,
    database: scratch,
    close: async () => {
      await context.close();
      await scratch.drop();
    },
  };
}
