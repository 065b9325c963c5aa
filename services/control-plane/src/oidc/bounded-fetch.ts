/** The provider did not answer, or its answer is unusable. */
export class ProviderAway extends Error {}

/** Documents and keys of a provider have a few kilobytes. */
const answerBytesMax = 1_048_576;

/** Calls a provider, which may hang, fail or answer without end. Throws ProviderAway. */
export function boundedFetch(fetchNow: typeof fetch): typeof fetch {
  return async (address, init) => {
    try {
      const response = await fetchNow(address, init);
      if (response.status >= 500) throw new Error(`It answered ${response.status}`);
      const body = await readBounded(response);
      return new Response(body.length === 0 ? null : body, response);
    } catch (cause) {
      throw new ProviderAway('The provider does not answer', { cause });
    }
  };
}

async function readBounded({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop releases the connection.
  for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    if (bytes > answerBytesMax) throw new Error('The answer is too long');
    pieces.push(piece);
  }
  return new Uint8Array(Buffer.concat(pieces));
}
