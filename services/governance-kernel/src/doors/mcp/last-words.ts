import { forTerminal } from '@countersign/verifier';
import type { Redact } from './configured-secrets.ts';

/** Long enough to contain the cause that a runtime prints before it ends. */
const tailLengthMax = 4_096;
/** One or two lines of a terminal, since a child must not flood our log. */
const wordsLengthMax = 200;
const faultLine = /^[\w.]*(?:Error|Exception)\b[^:]*: ./;

/** The end of a child's stderr, with its last line in printable form. */
export class LastWords {
  readonly #redact: Redact;
  #tail = '';

  constructor(redact: Redact) {
    this.#redact = redact;
  }

  take(chunk: Buffer): void {
    this.#tail = `${this.#tail}${chunk.toString('utf8')}`.slice(-tailLengthMax);
  }

  /** The line that reports a fault, else the last line. `null` when nothing was written. */
  line(): string | null {
    const lines = this.#redact(this.#tail)
      .split(/[\r\n]+/)
      .flatMap((line) => line.trim() || []);
    const line = lines.find((each) => faultLine.test(each)) ?? lines.at(-1);
    return line === undefined ? null : shownLine(line.replace(/^Error(?: \[\w+\])?: /, ''));
  }
}

/** Text from a server, as one short line. */
export function shownLine(text: string): string {
  return forTerminal(text.length > wordsLengthMax ? `${text.slice(0, wordsLengthMax)}…` : text);
}
