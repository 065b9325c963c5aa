import { need } from './fault.ts';
import { fromBase64, isInstant } from './forms.ts';
import { isObject, type Json, type JsonObject } from './strict-json.ts';

type Schema = {
  $ref?: string;
  type?: string | string[];
  const?: Json;
  enum?: Json[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  propertyNames?: Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
};

const keywords: ReadonlySet<string> = new Set([
  ...['$ref', 'type', 'const', 'enum', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum', 'minItems'],
  ...['maxItems', 'items', 'properties', 'required', 'additionalProperties', 'propertyNames', 'allOf', 'anyOf'],
  ...['oneOf', 'description', 'title', 'default', 'examples', 'example', 'readOnly'],
]);

/** The schemas of lines (1.7), from the OpenAPI description of the kernel. */
export class Schemas {
  readonly #byName: Record<string, Schema>;
  readonly #patterns = new Map<string, RegExp>();

  constructor(openApi: string) {
    const description = JSON.parse(openApi) as { components: { schemas: Record<string, Schema> } }; // our own file
    this.#byName = description.components.schemas;
  }

  /** The values of an enum schema. */
  namesOf(name: string): Json[] {
    return this.#named(name).enum ?? [];
  }

  /** Throws `MALFORMED` unless the value fits the schema. */
  assertForm(value: Json | undefined, name: string): asserts value is JsonObject {
    need(value !== undefined && this.hasForm(value, name), 'MALFORMED', `1.7 ${name}`);
  }

  /** Whether the value fits the schema with this name. */
  hasForm(value: Json, name: string): boolean {
    if (!this.#fits(value, this.#named(name))) return false;
    if (name === 'Instant') return isInstant(value); // 1.5
    if (name === 'LogPath') return Array.isArray(value) && value.every((hash) => fromBase64(hash)?.length === 32);
    return true;
  }

  #named(name: string): Schema {
    const schema = this.#byName[name];
    if (schema === undefined) throw new Error(`The OpenAPI description has no schema ${name}`);
    return schema;
  }

  #fits(value: Json, schema: Schema): boolean {
    const unknown = Object.keys(schema).find((keyword) => !keywords.has(keyword));
    if (unknown !== undefined)
      throw new Error(`A schema has the keyword ${unknown}, which this verifier does not read`);
    if (schema.$ref !== undefined && !this.hasForm(value, schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)))
      return false;
    if (!isOfType(value, schema)) return false;
    if (typeof value === 'string' && !this.#fitsText(value, schema)) return false;
    if (typeof value === 'number' && !isBetween(value, schema.minimum, schema.maximum)) return false;
    if (Array.isArray(value) && !this.#fitsItems(value, schema)) return false;
    if (isObject(value) && !this.#fitsMembers(value, schema)) return false;
    return this.#fitsCombination(value, schema);
  }

  #fitsText(value: string, { pattern, minLength, maxLength }: Schema): boolean {
    if (!isBetween([...value].length, minLength, maxLength)) return false;
    if (pattern === undefined) return true;
    const expression = this.#patterns.get(pattern) ?? new RegExp(pattern, 'u');
    this.#patterns.set(pattern, expression);
    return expression.test(value);
  }

  #fitsItems(value: Json[], { items, minItems, maxItems }: Schema): boolean {
    if (!isBetween(value.length, minItems, maxItems)) return false;
    return items === undefined || value.every((item) => this.#fits(item, items));
  }

  #fitsMembers(value: JsonObject, schema: Schema): boolean {
    if (schema.required?.some((name) => !Object.hasOwn(value, name)) === true) return false;
    return Object.entries(value).every(([name, member]) => {
      if (schema.propertyNames !== undefined && !this.#fits(name, schema.propertyNames)) return false;
      const isStated = schema.properties !== undefined && Object.hasOwn(schema.properties, name);
      const form = isStated ? schema.properties?.[name] : schema.additionalProperties;
      return typeof form === 'object' ? this.#fits(member, form) : form !== false;
    });
  }

  #fitsCombination(value: Json, { allOf, anyOf, oneOf }: Schema): boolean {
    const fits = (schema: Schema) => this.#fits(value, schema);
    if (allOf?.every(fits) === false || anyOf?.some(fits) === false) return false;
    return oneOf === undefined || oneOf.filter(fits).length === 1;
  }
}

function isOfType(value: Json, schema: Schema): boolean {
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length > 0 && !types.some((type) => isTyped(value, type))) return false;
  if (schema.const !== undefined && value !== schema.const) return false;
  return schema.enum === undefined || schema.enum.includes(value);
}

function isTyped(value: Json, type: string): boolean {
  if (value === null) return type === 'null';
  if (Array.isArray(value)) return type === 'array';
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

function isBetween(value: number, min = -Infinity, max = Infinity): boolean {
  return value >= min && value <= max;
}
