import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type PeerCall = { method: string; path: string; bearer: string; body: unknown };
type PeerAnswer = { status: number; body: unknown };

/** Fake of another service over HTTP. A test sets its answers. */
export class Peer {
  readonly calls: PeerCall[] = [];
  answer: (call: PeerCall) => PeerAnswer | Promise<PeerAnswer> = () => ({ status: 500, body: {} });
  readonly #server = createServer((req, res) => {
    let text = '';
    req.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    req.on('end', () => {
      const bearer = (req.headers.authorization ?? '').replace('Bearer ', '');
      const body: unknown = text === '' ? null : JSON.parse(text);
      const call = { method: req.method ?? '', path: req.url ?? '', bearer, body };
      this.calls.push(call);
      void Promise.resolve(this.answer(call)).then(({ status, body: reply }) => {
        res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
      });
    });
  });

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // it listens on TCP
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

/** Returns the error body of a service. */
export function refusalOf(status: number, code: string, message: string): PeerAnswer {
  const error = { type: 'conflict_error', code, message, param: null, request_id: 'req_peer', retryable: false };
  return { status, body: { error } };
}
