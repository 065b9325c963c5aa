import type { PlainJson } from '@countersign/contracts';
import { parsePlainJson } from '@countersign/crypto';

/** A configuration as plain JSON, without members that are `undefined`. */
export function plainMembers(config: object): Record<string, PlainJson> {
  return parsePlainJson(JSON.parse(JSON.stringify(config))) as Record<string, PlainJson>; // an object stays an object
}
