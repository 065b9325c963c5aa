import { AppError } from '@countersign/contracts';
import { parseUrlEncoded, type UrlEncoded } from './url-encoded.ts';

/**
 * Parses attacker-controlled bytes to the members of a form. Throws DUPLICATE_MEMBER, and INVALID_REQUEST for an
 * invalid encoding.
 */
export function parseFormBody(bytes: Buffer): UrlEncoded {
  if (!plain.test(bytes.toString('latin1'))) throw malformed(undefined);
  return parseUrlEncoded(bytes.toString('latin1'), { twice, malformed });
}

/**
 * The characters of a form. It writes every other character as percent-encoded UTF-8 (URL Standard, the
 * application/x-www-form-urlencoded serializer).
 */
const plain = /^[\x21-\x7e]*$/;

function twice(name: string): AppError {
  return new AppError('DUPLICATE_MEMBER', 'The form contains a member twice', { param: name });
}

function malformed(cause: unknown): AppError {
  return new AppError('INVALID_REQUEST', 'The form is not percent-encoded UTF-8', { cause });
}
