import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';

/** Returns the status of an evaluation with headers that `fetch` does not allow. */
export function statusOf(gatewayUrl: string, headers: Record<string, string>, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    httpRequest(new URL('/api/v1/evaluate', gatewayUrl), { method: 'POST', headers }, (res) =>
      resolve(res.resume().statusCode ?? 0),
    )
      .on('error', reject)
      .end(body);
  });
}

/** Sends a body in chunks, without a declared length. */
export function sendChunked(
  gatewayUrl: string,
  path: string,
  { headers, body }: { headers: Record<string, string>; body: string },
): Promise<Response> {
  const stream = new ReadableStream({
    start: (controller) => {
      for (let at = 0; at < body.length; at += 100_000) controller.enqueue(Buffer.from(body.slice(at, at + 100_000)));
      controller.close();
    },
  });
  const typed = { ...headers, 'content-type': 'application/json' };
  return fetch(new URL(path, gatewayUrl), {
    method: 'POST',
    headers: typed,
    body: stream,
    duplex: 'half',
  });
}

/** Sends a GET whose body is another request, as in request smuggling. */
export async function statusOfGetWithBody(gatewayUrl: string, key: string): Promise<number> {
  const { hostname, port } = new URL(gatewayUrl);
  const socket = connect(Number(port), hostname);
  const smuggled = 'GET /v1/models HTTP/1.1\r\n\r\n';
  const head = [
    'GET /mcp HTTP/1.1',
    'host: 127.0.0.1',
    `authorization: Bearer ${key}`,
    `content-length: ${smuggled.length}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${smuggled}`);
  const first = await new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))));
  socket.destroy();
  return Number(first.split(' ')[1]);
}
