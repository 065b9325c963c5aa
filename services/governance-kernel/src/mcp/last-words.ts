import { forTerminal } from '@countersign/verifier';

/** Where the cause stands in what a runtime prints before it ends. */
const tailLengthMax = 4_096;
/** One line of a terminal or two: a child must not write our log. */
const wordsLengthMax = 200;
const faultLine = /^[\w.]*(?:Error|Exception)\b[^:]*: ./;

/** What a child wrote to its stderr: of all that the end, and of this one line, which a terminal can be shown. */
export class LastWords {
  #tail = '';

  take(chunk: Buffer): void {
    this.#tail = `${this.#tail}${chunk.toString('utf8')}`.slice(-tailLengthMax);
  }

  /** The line that names a fault, else the last one; null: it wrote nothing. */
  said(): string | null {
    const lines = this.#tail.split(/[\r\n]+/).flatMap((line) => line.trim() || []);
    const line = lines.find((each) => faultLine.test(each)) ?? lines.at(-1);
    return line === undefined ? null : shownLine(line.replace(/^Error(?: \[\w+\])?: /, ''));
  }
}

/** Text of a server's choice, in one short line. */
export function shownLine(text: string): string {
  return forTerminal(text.length > wordsLengthMax ? `${text.slice(0, wordsLengthMax)}…` : text);
}
