import { AppError } from '@countersign/contracts';

/** Without a prototype, so that every name is an ordinary member. */
export type UrlEncoded = Record<string, string>;

/** One text for every malformed escape, so that no layer answers it differently. */
export function malformedEncoding(cause?: unknown): AppError {
  return new AppError('INVALID_REQUEST', 'The URL contains malformed percent-encoding', { cause });
}

type Refusals = { twice: (name: string) => AppError; malformed: (cause: unknown) => AppError };

/**
 * Members of a query string or a form. Throws `twice` for a repeated name, and `malformed` for an escape that is not
 * UTF-8.
 */
export function parseUrlEncoded(text: string, { twice, malformed }: Refusals): UrlEncoded {
  const members = Object.create(null) as UrlEncoded; // Object.create returns `any`
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals), malformed);
    if (name in members) throw twice(name);
    members[name] = equals === -1 ? '' : decode(pair.slice(equals + 1), malformed);
  }
  return members;
}

function decode(text: string, malformed: Refusals['malformed']): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    throw malformed(cause);
  }
}
