import { Excess } from './excess.ts';

const code = (character: string) => character.charCodeAt(0);
const [quote, backslash, lineFeed, carriageReturn] = ['"', '\\', '\n', '\r'].map(code);
/** Each container, and each value after another. */
const [brace, bracket, comma] = ['{', '[', ','].map(code);

/** The separator of messages: none, an empty line as in an event stream, or each line. */
type Framing = 'whole' | 'events' | 'lines';

/** Passes bytes on until the JSON in them has more values than that: used before the text is parsed at once. */
export async function* withFewValues(
  chunks: AsyncIterable<Buffer>,
  options: { valuesMax: number; framing: Framing },
): AsyncGenerator<Buffer> {
  const values = new ValueCount(options);
  for await (const chunk of chunks) {
    values.add(chunk);
    yield chunk;
  }
}

/** Counts the values of JSON that comes in pieces. No string of JSON holds a line feed, so each line begins outside of one. */
export class ValueCount {
  readonly #valuesMax: number;
  readonly #framing: Framing;
  #values = 0;
  #isInString = false;
  #isEscaped = false;
  #isLineEmpty = true;

  constructor({ valuesMax, framing }: { valuesMax: number; framing: Framing }) {
    this.#valuesMax = valuesMax;
    this.#framing = framing;
  }

  /** Throws {@link Excess} once a message is made of more values. */
  add(chunk: Uint8Array): void {
    let most = this.#values;
    for (const byte of chunk) {
      this.#count(byte);
      if (this.#values > most) most = this.#values;
    }
    if (most > this.#valuesMax) throw new Excess(`${this.#valuesMax} values`);
  }

  #count(byte: number): void {
    if (byte === lineFeed) return this.#endLine();
    if (byte !== carriageReturn) this.#isLineEmpty = false;
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === quote) this.#isInString = !this.#isInString;
    else if (this.#isInString) this.#isEscaped = byte === backslash;
    else if (byte === comma || byte === brace || byte === bracket) this.#values += 1;
  }

  #endLine(): void {
    if (this.#framing === 'lines' || (this.#framing === 'events' && this.#isLineEmpty)) this.#values = 0;
    this.#isInString = false;
    this.#isEscaped = false;
    this.#isLineEmpty = true;
  }
}
