import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { adminKey } from './_kernel.ts';

/** A gateway for the command line. It forwards the requests of one workspace to the kernel. */
export async function openWorkspaceDoor(kernelUrl: () => string, tenant: string) {
  const server = createServer((req, res) => {
    void buffer(req).then(async (body) => {
      const answer = await fetch(`${kernelUrl()}${req.url}`, {
        method: req.method ?? 'GET',
        headers: {
          authorization: `Bearer ${adminKey}`,
          'x-gov-tenant-id': tenant,
          ...(body.length === 0 ? {} : { 'content-type': 'application/json' }),
        },
        ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
      });
      res.writeHead(answer.status, Object.fromEntries(answer.headers));
      if (answer.body === null) res.end();
      else Readable.fromWeb(answer.body as never).pipe(res); // streams of Node and of the DOM differ only in types
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // the server listens on TCP
  const close = () => new Promise<void>((resolve) => void server.close(() => resolve()));
  return { url: `http://127.0.0.1:${port}`, close };
}
