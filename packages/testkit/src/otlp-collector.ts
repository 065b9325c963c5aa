import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { metricNamesIn, spansIn, type ReceivedSpan } from './otlp-messages.ts';

/** The behaviour of the collector: it accepts a request, refuses it, never answers, or never ends its answer. */
type CollectorMood = 'takes' | 'refuses' | 'hangs' | 'drips';

export type OtlpCollector = {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  /** All that came, in its order. */
  spans(): ReceivedSpan[];
  metricNames(): string[];
  /** Everything that came, as it was on the wire. */
  received(): Buffer;
  readonly requests: readonly { path: string; headers: IncomingHttpHeaders }[];
  become(mood: CollectorMood): void;
  /** Answers that have not ended, on connections that are there. */
  dripping(): number;
  close(): Promise<void>;
};

/** An OTLP receiver over HTTP that decodes the protobuf it is sent, by itself and without the sender's library. */
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
  const { port } = server.address() as AddressInfo; // of a TCP server
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

/** Sends a byte now and then, so that the connection is never idle. */
function drip(res: ServerResponse, onClose: () => void): void {
  res.writeHead(200, { 'content-type': 'application/x-protobuf' });
  const timer = setInterval(() => res.write('x'), 100); // far more often than an idle connection is ended
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
