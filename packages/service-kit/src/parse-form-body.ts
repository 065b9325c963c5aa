import { AppError } from '@countersign/contracts';
import { parseUrlEncoded, type UrlEncoded } from './url-encoded.ts';

/** Attacker-controlled bytes to the members of a form. Throws DUPLICATE_MEMBER, and INVALID_REQUEST for what no form writes. */
export function parseFormBody(bytes: Buffer): UrlEncoded {
  if (!plain.test(bytes.toString('latin1'))) throw malformed(undefined);
  return parseUrlEncoded(bytes.toString('latin1'), { twice, malformed });
}

/** A form writes every other character as percent-encoded UTF-8 (URL Standard, the application/x-www-form-urlencoded serializer). */
const plain = /^[\x21-\x7e]*$/;

function twice(name: string): AppError {
  return new AppError('DUPLICATE_MEMBER', 'A member of the form was sent twice', { param: name });
}

function malformed(cause: unknown): AppError {
  return new AppError('INVALID_REQUEST', 'The form is not percent-encoded UTF-8', { cause });
}
