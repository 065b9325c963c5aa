import { forTerminal } from '@countersign/verifier';
import type { Redact } from './configured-secrets.ts';

/** Where the cause stands in what a runtime prints before it ends. */
const tailLengthMax = 4_096;
/** One line of a terminal or two: a child must not write our log. */
const wordsLengthMax = 200;
const faultLine = /^[\w.]*(?:Error|Exception)\b[^:]*: ./;

/** The end of a child's stderr, and its last line in a form that a terminal can show. */
export class LastWords {
  readonly #redact: Redact;
  #tail = '';

  constructor(redact: Redact) {
    this.#redact = redact;
  }

  take(chunk: Buffer): void {
    this.#tail = `${this.#tail}${chunk.toString('utf8')}`.slice(-tailLengthMax);
  }

  /** The line that names a fault, else the last one; null: it wrote nothing. */
  said(): string | null {
    const lines = this.#redact(this.#tail)
      .split(/[\r\n]+/)
      .flatMap((line) => line.trim() || []);
    const line = lines.find((each) => faultLine.test(each)) ?? lines.at(-1);
    return line === undefined ? null : shownLine(line.replace(/^Error(?: \[\w+\])?: /, ''));
  }
}

/** Text of a server's choice, in one short line. */
export function shownLine(text: string): string {
  return forTerminal(text.length > wordsLengthMax ? `${text.slice(0, wordsLengthMax)}…` : text);
}
