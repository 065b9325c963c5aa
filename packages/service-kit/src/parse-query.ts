import { AppError } from '@countersign/contracts';

export type RawQuery = Record<string, string>;

/** One text for every malformed escape, so that no layer answers it differently. */
export function malformedEncoding(cause?: unknown): AppError {
  return new AppError('INVALID_REQUEST', 'The URL holds a malformed percent-encoding', { cause });
}

/** Members of the query string. Throws INVALID_REQUEST when one is sent twice or is not percent-encoded UTF-8. */
export function parseQuery(requestUrl: string): RawQuery {
  const query = Object.create(null) as RawQuery; // typed any; without prototype, so that any name is just a name
  const start = requestUrl.indexOf('?');
  if (start === -1) return query;
  for (const pair of requestUrl.slice(start + 1).split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    if (name in query) throw new AppError('INVALID_REQUEST', 'A query parameter was sent twice', { param: name });
    query[name] = equals === -1 ? '' : decode(pair.slice(equals + 1));
  }
  return query;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    throw malformedEncoding(cause);
  }
}
