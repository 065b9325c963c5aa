import { Excess } from './excess.ts';

const code = (character: string) => character.charCodeAt(0);
const [quote, backslash, lineFeed, carriageReturn] = ['"', '\\', '\n', '\r'].map(code);
/** Characters that each count as one value: the start of a container, and the comma before a further value. */
const [brace, bracket, comma] = ['{', '[', ','].map(code);

/** The separator of messages: none, an empty line as in an event stream, or each line break. */
type Framing = 'whole' | 'events' | 'lines';

/**
 * Forwards bytes. Throws Excess when their JSON has more values than permitted. Used before the text is parsed in one
 * step.
 */
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

/** Counts the values of JSON in chunks. JSON strings contain no line feed, so each line begins outside of a string. */
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

  /** Throws {@link Excess} when a message has too many values. */
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
