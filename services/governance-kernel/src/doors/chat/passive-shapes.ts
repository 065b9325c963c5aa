import { isList } from '@countersign/contracts';

export type JsonObject = Record<string, unknown>;

/** The part of a value that may be shown. `undefined` removes the member. `null` passes, since it has no content. */
export type Keep = (value: unknown) => unknown;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const text: Keep = (value) => (typeof value === 'string' || value === null ? value : undefined);
export const number: Keep = (value) => (typeof value === 'number' || value === null ? value : undefined);
export const flag: Keep = (value) => (typeof value === 'boolean' || value === null ? value : undefined);
export const textOrNumber: Keep = (value) => text(value) ?? number(value);

/** Keeps the elements of a list that have a permitted shape. */
export function listOf(keep: Keep): Keep {
  return (value) => {
    if (value === null) return null;
    return isList(value) ? value.map(keep).filter((each) => each !== undefined) : undefined;
  };
}

export function members(shapes: Readonly<Record<string, Keep>>): Keep {
  const existing = Object.entries(shapes);
  return objectOf((value) => existing.map(([name, keep]) => [name, ofOwn(value, name, keep)]));
}

/** An object whose `member` selects one of the shapes. */
export function someOf(member: string, shapes: Readonly<Record<string, Keep>>): Keep {
  return (value) => {
    const kind = isJsonObject(value) ? value[member] : undefined;
    const keep = typeof kind === 'string' && Object.hasOwn(shapes, kind) ? shapes[kind] : undefined;
    return keep?.(value);
  };
}

/** A name that labels a counter and cannot read like an instruction. */
const plainName = /^[a-z][a-z0-9_]{0,63}$/;

/** An object whose names the server chooses. A member of another form is removed together with its name. */
export function named(keep: Keep): Keep {
  return objectOf((value) =>
    Object.entries(value).map(([name, each]) => [name, plainName.test(name) ? unlessEmpty(keep(each)) : undefined]),
  );
}

function unlessEmpty(value: unknown): unknown {
  return isJsonObject(value) && Object.keys(value).length === 0 ? undefined : value;
}

/** The nesting of counters: `completion_tokens_details.reasoning_tokens`, and one spare level. */
const figuresDepth = 3;

/** Numbers and flags under plain names, which cannot contain instructions. */
export const figures: Keep = figuresOf(figuresDepth);

function figuresOf(depth: number): Keep {
  const deeper: Keep = depth === 1 ? () => undefined : figuresOf(depth - 1);
  return named((value) => number(value) ?? flag(value) ?? deeper(value));
}

function ofOwn(value: JsonObject, name: string, keep: Keep): unknown {
  return Object.hasOwn(value, name) && value[name] !== undefined ? keep(value[name]) : undefined;
}

function objectOf(entriesOf: (value: JsonObject) => (readonly [string, unknown])[]): Keep {
  return (value) => {
    if (value === null) return null;
    if (!isJsonObject(value)) return undefined;
    return Object.fromEntries(entriesOf(value).filter(([, each]) => each !== undefined));
  };
}
