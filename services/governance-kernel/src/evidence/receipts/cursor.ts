import { AppError } from '@countersign/contracts';
import {
  concatBytes,
  decodeBase64Url,
  encodeBase64Url,
  equalBytes,
  utf8Bytes,
  utf8Text,
  type CryptoProvider,
} from '@countersign/crypto';

/** The list that a cursor belongs to. */
export type CursorScope = { list: string; tenant: string };

const tagBytes = 8;

/**
 * A place in one tenant's list, as opaque text. The tag binds the cursor to its list and tenant, so that a misplaced
 * cursor is refused and not misread. The tag is not secret and protects nothing, since every query names its tenant.
 */
export function cursorOf(provider: CryptoProvider, scope: CursorScope, place: readonly number[]): string {
  const text = place.join('.');
  return encodeBase64Url(concatBytes(tagOf(provider, scope, text), utf8Bytes(text)));
}

/** The place in a cursor of this scope. Throws INVALID_REQUEST with `param`. */
export function parseCursor(
  provider: CryptoProvider,
  scope: CursorScope,
  { cursor, param }: { cursor: string; param: string },
): number[] {
  const place = placeOf(provider, scope, cursor);
  if (place === null)
    throw new AppError('INVALID_REQUEST', 'The cursor was not issued by this list. Begin without a cursor', { param });
  return place;
}

function placeOf(provider: CryptoProvider, scope: CursorScope, cursor: string): number[] | null {
  try {
    const bytes = decodeBase64Url(cursor);
    const text = utf8Text(bytes.subarray(tagBytes));
    if (!equalBytes(bytes.subarray(0, tagBytes), tagOf(provider, scope, text))) return null;
    const place = text.split('.').map(Number);
    return place.every((number) => Number.isSafeInteger(number) && number >= 0) ? place : null;
  } catch {
    return null; // not base64url, or not text
  }
}

function tagOf(provider: CryptoProvider, { list, tenant }: CursorScope, text: string): Uint8Array {
  return provider.sha256(utf8Bytes(`cursor\n${list}\n${tenant}\n${text}`)).subarray(0, tagBytes);
}
