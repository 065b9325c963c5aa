import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { WebSocket, type ClientOptions } from 'ws';

type Message = Record<string, unknown>;
type Opening = { path?: string; protocols: string[]; headers?: Record<string, string> };

/** A WebSocket of a page at `origin`, with the received messages. */
export class PageSocket {
  readonly messages: Message[] = [];
  readonly #socket: WebSocket;
  readonly #ended: Promise<number>;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data: Buffer) => this.messages.push(JSON.parse(data.toString()) as Message)); // the caller checks the members
    this.#ended = once(socket, 'close').then(([code]) => code as number);
  }

  /** Returns the socket, or the status and code of its rejection. */
  static async open(origin: string, { path = '/ws/console', protocols, headers = {} }: Opening) {
    const { origin: from = origin, ...sent } = headers;
    const options: ClientOptions = { headers: sent, ...(from === '' ? {} : { origin: from }) };
    const socket = new WebSocket(`${origin.replace('http', 'ws')}${path}`, protocols, options);
    const opened = new PageSocket(socket);
    return new Promise<PageSocket>((resolve, reject) => {
      socket.once('open', () => resolve(opened));
      socket.once('error', reject);
      socket.once('unexpected-response', (_request, answer: IncomingMessage) => {
        void textOf(answer).then((text) => reject(new Refused(answer.statusCode ?? 0, text)));
      });
    });
  }

  /** The close code of the socket. */
  get ended(): Promise<number> {
    return this.#ended;
  }

  get protocol(): string {
    return this.#socket.protocol;
  }

  send(text: string): void {
    this.#socket.send(text);
  }

  /** Stops reading. */
  pause(): void {
    this.#socket.pause();
  }

  end(): void {
    this.#socket.terminate();
  }
}

export class Refused extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, text: string) {
    super(`${status} ${text}`);
    this.status = status;
    this.code = (JSON.parse(text) as { error: { code: string } }).error.code;
  }
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of answer) pieces.push(piece as Buffer); // no encoding was set
  return Buffer.concat(pieces).toString();
}
