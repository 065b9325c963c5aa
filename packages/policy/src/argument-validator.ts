import type { PlainJson } from '@countersign/contracts';

/**
 * Judges arguments against a JSON Schema (2020-12 or draft-07). Null: valid. Else one phrase that names place and keyword and
 * never a value. A schema that cannot be compiled is a fault too.
 */
export type ArgumentValidator = (schema: Record<string, unknown>, args: Record<string, PlainJson>) => string | null;
