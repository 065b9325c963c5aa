import { z } from 'zod';

export type FieldLayer = { field: z.ZodType; meta: Readonly<Record<string, unknown>> };

/**
 * A configuration field and the types it wraps, outermost first. Metadata and defaults stay on the layer that declared
 * them.
 */
export function fieldLayers(field: unknown): FieldLayer[] {
  if (!(field instanceof z.ZodType)) return [];
  const def: object = field.def;
  return [{ field, meta: field.meta() ?? {} }, ...fieldLayers(innerOf(def))];
}

function innerOf(def: object): unknown {
  if ('innerType' in def) return def.innerType;
  return 'in' in def ? def.in : null;
}
