import { canonicalize, type JsonValue } from '@countersign/crypto';

/** Whether all values are different. Equal values have one canonical text, so each value is read once. */
export function areUnique(items: readonly JsonValue[]): boolean {
  return new Set(items.map((item) => canonicalize(item))).size === items.length;
}
