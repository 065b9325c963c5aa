import { CryptoError, parseStrictJson } from '@countersign/crypto';
import type { Transport } from '@modelcontextprotocol/client';
import { shownLine } from './last-words.ts';

/** Takes the place of a result that cannot be sealed and handed on as its server wrote it. */
export const inexactCode = -32_098;

/** Far deeper than what tools answer; the message is read by a parser that counts on it. */
const depthMax = 512;

/** Their results are hashed into a receipt. */
const sealedMethods = new Set(['tools/call', 'resources/read', 'prompts/get', 'completion/complete']);

type Id = string | number;
type Read = { id?: Id; result?: unknown } | null;

/**
 * Holds the results of tool calls to what can be read exactly. A receipt for a number that JSON.parse has rounded would
 * be a receipt for another number, and the value of a member that occurs twice is ambiguous. Lists and handshakes pass:
 * `maximum: 18446744073709551615` stands in many a schema.
 */
export class ExactAnswers {
  readonly #calls = new Set<number>();

  /** The same transport. Each call that it sends is noted. */
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
   * The text of a message, or of a batch of them, as it may be read: unchanged, or an error in place of each result. Text that is no JSON is
   * not judged here.
   */
  told(text: string): string {
    try {
      this.#end(parseStrictJson(text, { depthMax, bytesMax: Infinity }) as Read | Read[]);
      return text;
    } catch (error) {
      if (!(error instanceof CryptoError) || error.code === 'MALFORMED_JSON') return text;
      const read = JSON.parse(text) as Read | Read[]; // of all that is wrong with it, the grammar is not
      const ended = this.#end(read);
      if (ended.length === 0) return text;
      const told = messagesOf(read).map((message) => (ended.includes(message) ? withheld(message, error) : message));
      return JSON.stringify(Array.isArray(read) ? told : told[0]);
    }
  }

  /** The results of calls that were sent. The SDK takes a batch apart, although the protocol has none any more. */
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

/** The same key that the SDK uses to find the request of an answer. */
const keyOf = Number;

function withheld(read: Read, { message }: CryptoError): object {
  const reason = shownLine(message.replace(/ at (?:\/\d+)?\/result\//, ' at /'));
  return { jsonrpc: '2.0', id: read?.id, error: { code: inexactCode, message: reason } };
}

/**
 * A reader of a stream takes one away. A second mark before a field makes it unknown, unless the next reader removes
 * that too.
 */
const byteOrderMark = '\ufeff';

/** The events of a stream (HTML, 9.2.6), each passed on when it is whole, with its data as `told` tells it. */
export async function* exactEvents(
  chunks: AsyncIterable<Buffer>,
  told: (data: string) => string,
): AsyncGenerator<Buffer> {
  let event: string[] = [];
  for await (const line of linesOf(chunks)) {
    if (line.startsWith(byteOrderMark)) continue;
    if (line !== '') event.push(line);
    else {
      yield Buffer.from(`${eventOf(event, told).join('\n')}\n\n`);
      event = [];
    }
  }
}

/** Without what no line break ends: in a stream of events that counts for nothing. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  /** The pieces of the unfinished line, joined once, since it may come byte by byte. */
  let pieces: string[] = [];
  for await (const chunk of chunks) {
    const piece = decoder.decode(chunk, { stream: true });
    // A carriage return at the end may be half of a line break.
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

function eventOf(lines: string[], told: (data: string) => string): string[] {
  const data = lines.flatMap((line) => dataLine.exec(line)?.[1] ?? []).join('\n');
  const exact = told(data);
  return exact === data ? lines : [...lines.filter((line) => !dataLine.test(line)), `data: ${exact}`];
}
