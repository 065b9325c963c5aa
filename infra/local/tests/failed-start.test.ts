import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createLifecycle, createLogger, problemText } from '@countersign/service-kit';
import { localSettings, portVariables } from '../src/config.ts';
import { freePort } from '../src/ports.ts';
import { startLocal } from '../src/start-local.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'countersign-failed-start-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

async function problemOf(more: Record<string, string>): Promise<string> {
  const ports: Record<string, string> = {};
  for (const name of portVariables) ports[name] = String(await freePort());
  const log = createLogger({ service: 'local', silent: true });
  const lifecycle = createLifecycle(log);
  try {
    await startLocal(localSettings({ GOV_DATA_DIR: dataDir, ...ports, ...more }), { lifecycle, log });
    return 'started';
  } catch (error) {
    return problemText(error);
  } finally {
    await lifecycle.stop();
  }
}

it.each([
  ['of the kernel', { GOV_MODEL_PRICES: '{"*": 1}' }, /GOV_MODEL_PRICES/],
  ['of the gateway', { GOV_RUN_WORKERS: 'many' }, /GOV_RUN_WORKERS/],
  [
    'with the address of a broker that does not answer',
    { AMQP_URL: 'amqp://127.0.0.1:1' },
    /^The broker of AMQP_URL does not answer: .*ECONNREFUSED.* Start RabbitMQ, correct the address, or unset AMQP_URL/,
  ],
])(
  'a faulty variable %s stops the start before PostgreSQL starts, and the error contains its name',
  async (_what, variables, problem) => {
    expect(await problemOf(variables)).toMatch(problem);
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false);
  },
);
