import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { openEventStream } from '@countersign/service-kit';

it.each(['is sent more', 'is sent the end'])('cuts off a reader that never reads and %s', async (what) => {
  const ending = new AbortController();
  const isOver = new Promise<void>((over) => {
    server.once('request', (_req, res) => {
      const stream = openEventStream({ res, signal: ending.signal }, { stallMs: 300 });
      const send = async () => {
        while (await stream.send({ data: 'x'.repeat(100_000) }));
      };
      res.once('close', () => void sent.then(over));
      const sent = send();
      if (what === 'is sent the end') setTimeout(() => ending.abort(), 100);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const reader = connect((server.address() as AddressInfo).port, '127.0.0.1').pause(); // of a TCP server
  reader.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  await isOver;
  expect(ending.signal.aborted).toBe(what === 'is sent the end');
  reader.destroy();
  server.close();
});

const server = createServer();
