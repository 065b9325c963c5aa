import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { roomFor } from '../src/room-for.ts';

it('a sender does not wait for a response whose reader has gone, and leaves no timer', async () => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a TCP server has such an address
  const client = connect(port, '127.0.0.1');
  const requested = once(server, 'request') as Promise<[unknown, ServerResponse]>;
  client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  const [, res] = await requested;
  const closed = once(res, 'close');
  client.destroy();
  await closed;
  expect(res.write('late')).toBe(false);
  await roomFor(res);
  server.close();
  await once(server, 'close');
});
