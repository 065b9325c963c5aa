import type { PlainJson } from '@countersign/contracts';

/**
 * Validates arguments against a JSON Schema (2020-12 or draft-07). Returns `null` for valid arguments. Otherwise it
 * returns a phrase with the place and the keyword, and never a value. A schema that cannot be compiled is a fault too.
 */
export type ArgumentValidator = (schema: Record<string, unknown>, args: Record<string, PlainJson>) => string | null;
