import { createServer, type Server, type Socket } from 'node:net';

const answers: Record<string, string> = { DATA: '354 go on', QUIT: '221 bye' };

/** A mail server that accepts everything and delivers nothing. Tests read the received mails. */
export class Mailbox {
  readonly #mails: string[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => this.#serve(socket));
  }

  /** Listens on every address, because the senders are in containers. */
  static async open(): Promise<Mailbox> {
    const server = createServer();
    const mailbox = new Mailbox(server);
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
    return mailbox;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('The mailbox is closed.');
    return address.port;
  }

  /** The newest sign-in code for this address. */
  codeFor(address: string): string | null {
    const mail = this.#mails.findLast((each) => each.includes(`To: ${address}`));
    return /Subject: (\d{6}) /.exec(mail ?? '')?.[1] ?? null;
  }

  async close(): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(socket: Socket): void {
    let received = '';
    let mail: string | null = null;
    const say = (line: string) => socket.write(`${line}\r\n`);
    socket.on('error', () => socket.destroy());
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text;
      for (let end = received.indexOf('\r\n'); end >= 0; end = received.indexOf('\r\n')) {
        const line = received.slice(0, end);
        received = received.slice(end + 2);
        if (mail === null) {
          if (line === 'DATA') mail = '';
          say(answers[line] ?? '250 taken');
        } else if (line === '.') {
          this.#mails.push(mail);
          mail = null;
          say('250 taken');
        } else mail += `${line}\n`;
      }
    });
    say('220 mailbox');
  }
}
