import { AppError } from '@countersign/contracts';
import { malformedEncoding, parseUrlEncoded, type UrlEncoded } from './url-encoded.ts';

export type RawQuery = UrlEncoded;

/** Members of the query string. Throws INVALID_REQUEST when one is sent twice or is not percent-encoded UTF-8. */
export function parseQuery(requestUrl: string): RawQuery {
  const start = requestUrl.indexOf('?');
  return parseUrlEncoded(start === -1 ? '' : requestUrl.slice(start + 1), { twice, malformed: malformedEncoding });
}

function twice(name: string): AppError {
  return new AppError('INVALID_REQUEST', 'The query contains a parameter twice', { param: name });
}
