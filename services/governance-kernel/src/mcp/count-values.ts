const code = (character: string) => character.charCodeAt(0);
const [quote, backslash, lineFeed, carriageReturn] = ['"', '\\', '\n', '\r'].map(code);
/** Each container, and each value after another. */
const [brace, bracket, comma] = ['{', '[', ','].map(code);

/**
 * Passes bytes on until the JSON in them is made of more values than that: to be asked before anybody parses it in one go. No string of
 * JSON holds a line feed, so each line begins outside of one, whatever an event stream has around its JSON. `isStream`: an empty line
 * ends one message and begins the next.
 */
export async function* withFewValues(
  chunks: AsyncIterable<Buffer>,
  { valuesMax, isStream }: { valuesMax: number; isStream: boolean },
): AsyncGenerator<Buffer> {
  const state = { values: 0, most: 0, isInString: false, isEscaped: false, isLineEmpty: true };
  for await (const chunk of chunks) {
    for (const byte of chunk) countByte(state, byte, isStream);
    if (Math.max(state.values, state.most) > valuesMax)
      throw new Error(`The answer is made of more than ${valuesMax} values`);
    yield chunk;
  }
}

/** `most`: of a message that has ended in the same chunk. */
type State = { values: number; most: number; isInString: boolean; isEscaped: boolean; isLineEmpty: boolean };

function countByte(state: State, byte: number, isStream: boolean): void {
  if (byte === lineFeed) {
    if (isStream && state.isLineEmpty) {
      state.most = Math.max(state.most, state.values);
      state.values = 0;
    }
    state.isInString = false;
    state.isEscaped = false;
    state.isLineEmpty = true;
    return;
  }
  if (byte !== carriageReturn) state.isLineEmpty = false;
  if (state.isEscaped) state.isEscaped = false;
  else if (byte === quote) state.isInString = !state.isInString;
  else if (state.isInString) state.isEscaped = byte === backslash;
  else if (byte === comma || byte === brace || byte === bracket) state.values += 1;
}
