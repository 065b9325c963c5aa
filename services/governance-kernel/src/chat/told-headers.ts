import type { IncomingHttpHeaders } from 'node:http';

const told = /^(retry-after(-ms)?|x-ratelimit-[a-z0-9-]{1,60})$/;
/** Numbers, durations and dates; nothing that could carry more than that. */
const plainValue = /^[A-Za-z0-9 ,:;.=+-]{1,100}$/;
const headersMax = 32;

/** The model server's headers about rate limits: callers pace themselves by them. */
export function toldHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const passed = Object.entries(headers).filter(
    (header): header is [string, string] =>
      told.test(header[0]) && typeof header[1] === 'string' && plainValue.test(header[1]),
  );
  return Object.fromEntries(passed.slice(0, headersMax));
}
