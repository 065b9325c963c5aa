/** A provider did not answer, or not with what can be read. */
export class ProviderAway extends Error {}

/** Documents and keys of a provider are some kilobytes. */
const answerBytesMax = 1_048_576;

/** Asks a provider, which may hang, die or answer for ever. Throws ProviderAway. */
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
  const parts: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop lets go of the connection.
  for await (const part of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += part.length;
    if (bytes > answerBytesMax) throw new Error('The answer is too long');
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}
