import { CryptoError, parseStrictJson } from '@countersign/crypto';
import type { Transport } from '@modelcontextprotocol/client';
import { shownLine } from './last-words.ts';

/** The error code of the message that replaces a result which cannot be sealed and forwarded exactly. */
export const inexactCode = -32_098;

/** Far deeper than tool results, and within the limit of the message parser. */
const depthMax = 512;

/** Methods whose results are hashed into a receipt. */
const sealedMethods = new Set(['tools/call', 'resources/read', 'prompts/get', 'completion/complete']);

type Id = string | number;
type Read = { id?: Id; result?: unknown } | null;

/**
 * Refuses results of calls and reads that cannot be read exactly. A receipt for a number that JSON.parse has rounded
 * would cover a different number, and the value of a duplicated member is ambiguous. Lists and handshakes pass, since
 * schemas often contain `maximum: 18446744073709551615`.
 */
export class ExactAnswers {
  readonly #calls = new Set<number>();

  /** The transport, with each sent call recorded. */
  of<T extends Transport>(transport: T): T {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      if ('method' in message && sealedMethods.has(message.method) && 'id' in message)
        this.#calls.add(keyOf(message.id));
      return send(message, options);
    };
    return transport;
  }

  /**
   * The text of a message, or of a batch, with each unreadable result replaced by an error. Text that is not JSON is
   * unchanged.
   */
  exactText(text: string): string {
    try {
      this.#end(parseStrictJson(text, { depthMax, bytesMax: Infinity }) as Read | Read[]);
      return text;
    } catch (error) {
      if (!(error instanceof CryptoError) || error.code === 'MALFORMED_JSON') return text;
      const read = JSON.parse(text) as Read | Read[]; // its grammar is valid, whatever else is wrong
      const ended = this.#end(read);
      if (ended.length === 0) return text;
      const messages = messagesOf(read).map((message) =>
        ended.includes(message) ? withheld(message, error) : message,
      );
      return JSON.stringify(Array.isArray(read) ? messages : messages[0]);
    }
  }

  /**
   * Returns the messages that are results of recorded calls, and forgets these calls. The SDK splits a batch, although
   * the protocol no longer has batches.
   */
  #end(read: Read | Read[]): Read[] {
    return messagesOf(read).filter((message) => {
      const isResult = message?.id !== undefined && message.result !== undefined;
      return isResult && this.#calls.delete(keyOf(message.id ?? ''));
    });
  }
}

function messagesOf(read: Read | Read[]): Read[] {
  return Array.isArray(read) ? read : [read];
}

/** The key with which the SDK matches answers to requests. */
const keyOf = Number;

function withheld(read: Read, { message }: CryptoError): object {
  const reason = shownLine(message.replace(/ at (?:\/\d+)?\/result\//, ' at /'));
  return { jsonrpc: '2.0', id: read?.id, error: { code: inexactCode, message: reason } };
}

/**
 * A reader removes one byte order mark. A second mark makes its line an unknown field, unless a later reader removes
 * that mark too. Lines that begin with a mark are therefore dropped.
 */
const byteOrderMark = '\ufeff';

/** The events of a stream (HTML, 9.2.6). Each is forwarded when complete, with its data from `rewrite`. */
export async function* exactEvents(
  chunks: AsyncIterable<Buffer>,
  rewrite: (data: string) => string,
): AsyncGenerator<Buffer> {
  let event: string[] = [];
  for await (const line of linesOf(chunks)) {
    if (line.startsWith(byteOrderMark)) continue;
    if (line !== '') event.push(line);
    else {
      yield Buffer.from(`${eventOf(event, rewrite).join('\n')}\n\n`);
      event = [];
    }
  }
}

/**
 * The complete lines of a text. A last line without a line break is omitted, since readers of event streams ignore such
 * a line.
 */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  /**
   * The pieces of the unfinished line. They are joined only when the line is complete, since it may arrive byte by
   * byte.
   */
  let pieces: string[] = [];
  for await (const chunk of chunks) {
    const piece = decoder.decode(chunk, { stream: true });
    // A trailing carriage return may be half of a line break.
    const isBroken = pieces.at(-1)?.endsWith('\r') === true || /[\r\n]./s.test(piece) || piece.endsWith('\n');
    if (piece !== '') pieces.push(piece);
    if (!isBroken) continue;
    const lines = pieces.join('').split(/\r\n|\n|\r(?!$)/);
    pieces = lines.splice(-1);
    yield* lines;
  }
  const last = pieces.join('');
  if (last.endsWith('\r')) yield last.slice(0, -1);
}

const dataLine = /^data(?:: ?(.*))?$/s;

function eventOf(lines: string[], rewrite: (data: string) => string): string[] {
  const data = lines.flatMap((line) => dataLine.exec(line)?.[1] ?? []).join('\n');
  const exact = rewrite(data);
  return exact === data ? lines : [...lines.filter((line) => !dataLine.test(line)), `data: ${exact}`];
}
