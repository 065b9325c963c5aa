export type JsonObject = Record<string, unknown>;

/**
 * The part of a value that may be shown; undefined when there is none, and its member is left out. `null` passes, since
 * it has no content. Null passes: it says nothing.
 */
export type Keep = (value: unknown) => unknown;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const text: Keep = (value) => (typeof value === 'string' || value === null ? value : undefined);
export const number: Keep = (value) => (typeof value === 'number' || value === null ? value : undefined);
export const flag: Keep = (value) => (typeof value === 'boolean' || value === null ? value : undefined);
export const textOrNumber: Keep = (value) => text(value) ?? number(value);

/** Members that have no such form are left out. */
export function listOf(keep: Keep): Keep {
  return (value) => {
    if (value === null) return null;
    if (!Array.isArray(value)) return undefined;
    return (value as unknown[]).map(keep).filter((each) => each !== undefined); // narrowed by isArray
  };
}

export function members(shapes: Readonly<Record<string, Keep>>): Keep {
  const known = Object.entries(shapes);
  return objectOf((value) => known.map(([name, keep]) => [name, ofOwn(value, name, keep)]));
}

/** An object whose `member` says which of the shapes it has. */
export function someOf(member: string, shapes: Readonly<Record<string, Keep>>): Keep {
  return (value) => {
    const kind = isJsonObject(value) ? value[member] : undefined;
    const keep = typeof kind === 'string' && Object.hasOwn(shapes, kind) ? shapes[kind] : undefined;
    return keep?.(value);
  };
}

/** A name that shows what is counted, and cannot be an order to a reader. */
const plainName = /^[a-z][a-z0-9_]{0,63}$/;

/** An object with names of the server's own. A member of another form is left out with its name. */
export function named(keep: Keep): Keep {
  return objectOf((value) =>
    Object.entries(value).map(([name, each]) => [name, plainName.test(name) ? unlessEmpty(keep(each)) : undefined]),
  );
}

function unlessEmpty(value: unknown): unknown {
  return isJsonObject(value) && Object.keys(value).length === 0 ? undefined : value;
}

/** How deep counters are grouped: `completion_tokens_details.reasoning_tokens`, and one level to spare. */
const figuresDepth = 3;

/** Numbers and flags under any plain names: neither can say what to do. */
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
