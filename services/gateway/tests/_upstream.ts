import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StubSettings } from './_stub-settings.ts';

type Received = { method: string; url: string; headers: IncomingMessage['headers']; body: string };

/** Fake of the kernel. A test sets its answers, and it stores the received requests. */
export class Upstream {
  readonly received: Received[] = [];
  readonly settings = new StubSettings();
  answer: (req: IncomingMessage, res: ServerResponse, body: string) => void = (_req, res) => res.end('{}');
  readonly #server: Server = createServer((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    // Requests of the gateway itself are not stored as forwarded requests.
    const isOwn = req.url?.startsWith('/internal/') === true;
    req.on('end', () => {
      if (!isOwn) this.received.push({ method: req.method ?? '', url: req.url ?? '', headers: req.headers, body });
      if (isOwn) void this.#takeSetting(req.url ?? '', res, body);
      else this.answer(req, res, body);
    });
  });

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // it listens on TCP
  }

  get last(): Received {
    const last = this.received.at(-1);
    if (last === undefined) throw new Error('nothing was forwarded');
    return last;
  }

  async #takeSetting(path: string, res: ServerResponse, body: string): Promise<void> {
    const answer = await this.settings.answer(path, JSON.parse(body) as Record<string, unknown>); // sent by the gateway
    res.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}
