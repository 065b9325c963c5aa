import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, expect, it } from '@jest/globals';
import { freePort } from '@countersign/local';
import { services } from '@countersign/services';
import { scratchDataDir, startIn } from './_system.ts';

const dataDir = scratchDataDir();
const another: Server = createServer();

afterAll(() => {
  another.close();
  dataDir.remove();
});

it('a system starts on other ports when a chosen port is already in use', async () => {
  await once(another.listen(0, '127.0.0.1'), 'listening');
  const taken = (another.address() as AddressInfo).port; // a listening TCP server has this address type
  const chosen: number[] = [];
  const choosePort = async () => {
    chosen.push(chosen.length === 0 ? taken : await freePort());
    return chosen.at(-1) ?? 0;
  };
  const system = await startIn(dataDir.path, {}, { choosePort });
  await system.stop();
  // Each start chooses a port for each service, one for the console, and one for health.
  const portsPerStart = services.length + 2;
  expect(chosen).toHaveLength(2 * portsPerStart);
  expect(chosen.slice(portsPerStart)).toContain(Number(new URL(system.gatewayUrl).port));
});
