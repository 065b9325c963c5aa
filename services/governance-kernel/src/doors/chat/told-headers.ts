import type { IncomingHttpHeaders } from 'node:http';

const relayedNames = /^(retry-after(-ms)?|x-ratelimit-[a-z0-9-]{1,60})$/;
/** The characters of numbers, durations and dates, and only 100 of them, so that little other data fits. */
const plainValue = /^[A-Za-z0-9 ,:;.=+-]{1,100}$/;
const headersMax = 32;

/** The rate limit headers of the model server, which callers use to pace themselves. */
export function toldHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const passed = Object.entries(headers).filter(
    (header): header is [string, string] =>
      relayedNames.test(header[0]) && typeof header[1] === 'string' && plainValue.test(header[1]),
  );
  return Object.fromEntries(passed.slice(0, headersMax));
}
