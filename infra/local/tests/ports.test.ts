import { randomInt } from 'node:crypto';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, expect, it } from '@jest/globals';
import { assertPortsFree, freePort } from '../src/ports.ts';

const servers: Server[] = [];
afterAll(() => servers.forEach((server) => server.close()));

async function takenPort(): Promise<number> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port; // a listening TCP server has an address
}

it('all taken ports are reported, with one command that repeats the set variables', async () => {
  const [gateway, kernel, free] = [await takenPort(), await takenPort(), await freePort()];
  const wanted = [
    { variable: 'GATEWAY_PORT', port: gateway },
    { variable: 'GOV_PORT', port: kernel },
    { variable: 'GOV_HEALTH_PORT', port: free },
  ];
  const values = { GOV_DATA_DIR: "/tmp/it's here", GATEWAY_PORT: String(gateway) };
  const refused = await assertPortsFree(wanted, values).catch((error: Error) => error.message);
  expect(refused).toContain(`Ports ${gateway}, ${kernel} are taken`);
  expect(refused).toMatch(/: GOV_DATA_DIR='\/tmp\/it'\\''s here' GATEWAY_PORT=\d+ GOV_PORT=\d+ make up$/);
  expect(refused).not.toContain(`GATEWAY_PORT=${gateway}`);
  await assertPortsFree([{ variable: 'GOV_PORT', port: free }], values);
});

it('a port is allocated only once in a process', async () => {
  const ports = await Promise.all(Array.from({ length: 400 }, freePort));
  expect(new Set(ports).size).toBe(ports.length);
});

it('a port that browsers refuse to open is never allocated', async () => {
  const drawn = [10_080, 6_000, 10_080];
  const port = await freePort(() => drawn.pop() ?? randomInt(20_000, 30_000));
  expect(drawn).toEqual([]);
  await expect(fetch('http://127.0.0.1:10080/')).rejects.toMatchObject({ cause: { message: 'bad port' } });
  expect(port).toBeGreaterThanOrEqual(20_000);
});
