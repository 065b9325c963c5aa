import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { metricNamesIn, spansIn, type ReceivedSpan } from './otlp-messages.ts';

/** How the collector treats a request: it accepts it, refuses it, never responds, or never ends its response. */
type CollectorMood = 'takes' | 'refuses' | 'hangs' | 'drips';

export type OtlpCollector = {
  /** The value for OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  /** All received spans, in their order. */
  spans(): ReceivedSpan[];
  metricNames(): string[];
  /** The bodies of all received requests, joined. */
  received(): Buffer;
  readonly requests: readonly { path: string; headers: IncomingHttpHeaders }[];
  become(mood: CollectorMood): void;
  /** Number of responses that have not ended, on open connections. */
  dripping(): number;
  close(): Promise<void>;
};

/** An OTLP receiver over HTTP. It decodes protobuf without the library of the sender. */
export async function startOtlpCollector(): Promise<OtlpCollector> {
  const requests: { path: string; headers: IncomingHttpHeaders; body: Buffer }[] = [];
  let mood: CollectorMood = 'takes';
  let dripping = 0;
  const server = createServer((req, res) => {
    void readBody(req).then((body) => {
      requests.push({ path: req.url ?? '', headers: req.headers, body });
      if (mood !== 'drips') return answer(res, mood);
      dripping += 1;
      drip(res, () => (dripping -= 1));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server has this kind of address
  const bodiesOf = (path: string) => requests.filter((request) => request.path === path).map(({ body }) => body);
  return {
    url: `http://127.0.0.1:${port}`,
    spans: () => bodiesOf('/v1/traces').flatMap(spansIn),
    metricNames: () => bodiesOf('/v1/metrics').flatMap(metricNamesIn),
    received: () => Buffer.concat(requests.map(({ body }) => body)),
    requests,
    become: (next) => (mood = next),
    dripping: () => dripping,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(res: ServerResponse, mood: CollectorMood): void {
  if (mood === 'hangs') return;
  res.writeHead(mood === 'takes' ? 200 : 400, { 'content-type': 'application/x-protobuf' });
  res.end();
}

/** Sends a byte repeatedly, so that the connection is never idle. */
function drip(res: ServerResponse, onClose: () => void): void {
  res.writeHead(200, { 'content-type': 'application/x-protobuf' });
  const timer = setInterval(() => res.write('x'), 100); // much shorter than the time-out of idle connections
  res.on('close', () => {
    clearInterval(timer);
    onClose();
  });
}

async function readBody(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}
