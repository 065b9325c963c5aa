import { canonicalize, type JsonValue } from '@countersign/crypto';

/** Does no JSON value occur twice? Equal values have one canonical text, so each is looked at once. */
export function areUnique(items: readonly JsonValue[]): boolean {
  return new Set(items.map((item) => canonicalize(item))).size === items.length;
}
