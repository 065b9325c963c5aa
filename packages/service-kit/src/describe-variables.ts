import { z } from 'zod';
import { fieldLayers, type FieldLayer } from './field-layers.ts';

/** The description of a variable, for the person who sets it. */
export type VariableDescription = {
  name: string;
  type: string;
  /** The value of the variable when it is unset. `null` when it then has no value. */
  fallback: string | null;
  /** When the variable must be set, as text. `null` when it is optional. */
  requiredWhen: string | null;
  meaning: string;
  isSecret: boolean;
};

/**
 * The variables that `readConfig` reads by this schema, in order. `.describe(…)` states the meaning, and `.meta({
 * requiredWhen, fallback })` what the schema itself cannot know. Throws for a variable without a description.
 */
export function describeVariables(schema: z.ZodObject): VariableDescription[] {
  return Object.entries(schema.shape).map(([name, field]) => {
    const layers = fieldLayers(field);
    const metaOf = (key: string) => textOf(layers.find(({ meta }) => key in meta)?.meta[key]);
    const meaning = metaOf('description');
    if (meaning === null) throw new TypeError(`${name} has no description. Add one with .describe()`);
    const isOptional = z.safeParse(schema.shape[name] as z.ZodType, undefined).success;
    return {
      name,
      type: metaOf('type') ?? typeOf(layers),
      fallback: metaOf('fallback') ?? defaultOf(layers),
      requiredWhen: metaOf('requiredWhen') ?? (isOptional ? null : 'always'),
      meaning,
      isSecret: layers.some(({ meta }) => meta['secret'] === true),
    };
  });
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function typeOf(layers: readonly FieldLayer[]): string {
  const values = layers.flatMap(({ field }) => (field instanceof z.ZodEnum ? field.options : []));
  return values.length === 0 ? 'text' : values.map((value) => `\`${value}\``).join(', ');
}

function defaultOf(layers: readonly FieldLayer[]): string | null {
  const defaults = layers.flatMap(({ field }) => (field instanceof z.ZodDefault ? [field.def.defaultValue] : []));
  return defaults.length === 0 || defaults[0] === '' ? null : String(defaults[0]);
}
