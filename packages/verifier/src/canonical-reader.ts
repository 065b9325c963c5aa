import {
  hasWord,
  readInteger,
  readItems,
  readMembers,
  readPlain,
  readString,
  readWord,
  skip,
} from './canonical-cursor.ts';
import type { CanonicalCursor, CanonicalReader } from './canonical-cursor.ts';

/** The definition of a schema of zod. */
type Definition = {
  type: string;
  shape?: Readonly<Record<string, Schema>>;
  catchall?: Schema;
  innerType?: Schema;
  element?: Schema;
  valueType?: Schema;
  keyType?: Schema;
  entries?: Readonly<Record<string, unknown>>;
  values?: readonly unknown[];
  format?: string;
  checks?: readonly { _zod: { def: object } }[];
};
type Check = {
  check: string;
  pattern?: RegExp;
  minimum?: number;
  maximum?: number;
  value?: number;
  inclusive?: boolean;
  fn?: (value: unknown) => unknown;
};
export type Schema = { _zod: { def: object } };

/** Makes an object from its members in canonical order. An absent member is `undefined`. */
export type Builder = (items: readonly unknown[]) => Record<string, unknown>;

type ReaderOptions = {
  /** The names of members whose ranges the cursor notes, by number. */
  marks: readonly string[];
  /** The names of members whose values occur in most texts. Their last values are compared first. */
  repeated: ReadonlySet<string>;
  /** The builders of some schemas. */
  builders: ReadonlyMap<Schema, Builder>;
};

/**
 * Compiles a reader of canonical texts. It accepts no text that the schema, `parseStrictJson` or `canonicalize` refuses,
 * and returns the value of `JSON.parse`. Throws for a schema with a type or check that it does not know.
 */
export function canonicalReader(schema: Schema, options: ReaderOptions): CanonicalReader {
  const definition = schema._zod.def as Definition; // declared as an object of any form
  switch (definition.type) {
    case 'object':
      return objectReader(definition, options, options.builders.get(schema) ?? null);
    case 'array':
      return arrayReader(definition, options);
    case 'record':
      return recordReader(definition, options);
    case 'string':
      return stringReader(definition);
    case 'number':
      return integerReader(definition);
    case 'nullable':
      return nullableReader(canonicalReader(partOf(definition.innerType), options));
    case 'enum':
      return constantReader(Object.values(definition.entries ?? {}));
    case 'literal':
      return constantReader(definition.values ?? []);
    case 'boolean':
      return constantReader([true, false]);
    case 'unknown':
      return readPlain;
    default:
      throw unknownPart(definition.type);
  }
}

type Member = { name: string; key: string; mark: number; isOptional: boolean; read: CanonicalReader };

function objectReader(
  { shape = {}, catchall, checks }: Definition,
  options: ReaderOptions,
  builder: Builder | null,
): CanonicalReader {
  if ((catchall?._zod.def as Definition | undefined)?.type !== 'never' || checks !== undefined)
    throw unknownPart('open object');
  const names = Object.keys(shape).sort();
  const members = names.map((name) => memberOf(name, partOf(shape[name]), options));
  const build = builder === null ? builderOf(names) : checkedBuilder(names, builder);
  const items = new Array<unknown>(names.length).fill(undefined);
  return (cursor) => {
    let separator = 0x7b;
    for (let nth = 0; nth < members.length; nth += 1) {
      const member = members[nth];
      if (member === undefined) return undefined;
      items[nth] = undefined;
      const { text, at } = cursor;
      if (text.charCodeAt(at) === separator && hasWord(text, member.key, at + 1)) {
        const start = at + 1 + member.key.length;
        cursor.at = start;
        const item = member.read(cursor);
        if (item === undefined) return undefined;
        if (member.mark !== -1) cursor.ranges[member.mark] = { start, end: cursor.at };
        items[nth] = item;
        separator = 0x2c;
      } else if (!member.isOptional) return undefined;
    }
    // Only an object without members still has its opening brace here.
    if (separator === 0x7b && !skip(cursor, 0x7b)) return undefined;
    return skip(cursor, 0x7d) ? build(items) : undefined;
  };
}

function builderOf(names: readonly string[]): Builder {
  return (items) => {
    const value: Record<string, unknown> = {};
    for (let nth = 0; nth < names.length; nth += 1) if (items[nth] !== undefined) value[names[nth] ?? ''] = items[nth];
    return value;
  };
}

/** Throws for a builder of other members. */
function checkedBuilder(names: readonly string[], build: Builder): Builder {
  const made = build(names);
  if (Object.keys(made).length !== names.length || names.some((name) => made[name] !== name))
    throw unknownPart('builder of other members');
  return build;
}

function memberOf(name: string, schema: Schema, options: ReaderOptions): Member {
  const definition = schema._zod.def as Definition; // declared as an object of any form
  const isOptional = definition.type === 'optional';
  const read = canonicalReader(isOptional ? partOf(definition.innerType) : schema, options);
  return {
    name,
    key: `${JSON.stringify(name)}:`,
    mark: options.marks.indexOf(name),
    isOptional,
    read: options.repeated.has(name) ? rememberingReader(read) : read,
  };
}

function arrayReader({ element, checks = [] }: Definition, options: ReaderOptions): CanonicalReader {
  const item = partOf(element);
  const read = readerByPlace(() => canonicalReader(item, options));
  const itemsMax = Math.min(
    ...checks.map(({ _zod }) => {
      const { check, maximum } = _zod.def as Check; // declared as an object of any form
      if (check !== 'max_length' || maximum === undefined) throw unknownPart(check);
      return maximum;
    }),
  );
  return (cursor) => {
    const items = readItems(cursor, read);
    return items !== undefined && items.length <= itemsMax ? items : undefined;
  };
}

const placesMax = 64;

/** Neighbouring texts often have the same item at the same place, so each of the first places has its own reader. */
function readerByPlace(make: () => CanonicalReader): (cursor: CanonicalCursor, place: number) => unknown {
  const readers: CanonicalReader[] = [];
  const common = make();
  return (cursor, place) => {
    if (place >= placesMax) return common(cursor);
    const read = (readers[place] ??= make());
    return read(cursor);
  };
}

function recordReader({ keyType, valueType, checks }: Definition, options: ReaderOptions): CanonicalReader {
  const names = partOf(keyType)._zod.def as Definition; // declared as an object of any form
  if (names.type !== 'string' || names.checks !== undefined || checks !== undefined) throw unknownPart('record');
  const read = canonicalReader(partOf(valueType), options);
  return (cursor) => readMembers(cursor, read);
}

/** Most strings of a member are equal to its previous string, which needs no check. */
function stringReader({ checks = [] }: Definition): CanonicalReader {
  const tests = checks.map(({ _zod }) => stringTest(_zod.def as Check)); // declared as an object of any form
  let [lastText, lastValue] = ['', ''];
  return (cursor) => {
    const { text, at } = cursor;
    if (lastText !== '' && hasWord(text, lastText, at)) {
      cursor.at = at + lastText.length;
      return lastValue;
    }
    const value = readString(cursor);
    if (value === undefined) return undefined;
    for (const test of tests) if (!test(value)) return undefined;
    // Another length means that the text has escapes.
    if (cursor.at - at === value.length + 2) [lastText, lastValue] = [`"${value}"`, value];
    return value;
  };
}

function stringTest({ check, pattern, minimum, maximum, fn }: Check): (value: string) => boolean {
  if (check === 'string_format' && pattern !== undefined && !pattern.global && !pattern.sticky)
    return (value) => pattern.test(value);
  if (check === 'min_length' && minimum !== undefined) return (value) => value.length >= minimum;
  if (check === 'max_length' && maximum !== undefined) return (value) => value.length <= maximum;
  if (check === 'custom' && fn !== undefined) return (value) => fn(value) === true;
  throw unknownPart(check);
}

function integerReader({ format, checks = [] }: Definition): CanonicalReader {
  if (format !== 'safeint') throw unknownPart(`number ${format ?? ''}`);
  let [least, most] = [-Infinity, Infinity];
  for (const { _zod } of checks) {
    const { check, value, inclusive } = _zod.def as Check; // declared as an object of any form
    if (value === undefined || inclusive !== true) throw unknownPart(check);
    if (check === 'greater_than') least = Math.max(least, value);
    else if (check === 'less_than') most = Math.min(most, value);
    else throw unknownPart(check);
  }
  return (cursor) => {
    const value = readInteger(cursor);
    return value !== undefined && value >= least && value <= most ? value : undefined;
  };
}

function nullableReader(read: CanonicalReader): CanonicalReader {
  return (cursor) =>
    cursor.text.charCodeAt(cursor.at) === 0x6e ? readWord(cursor, { word: 'null', value: null }) : read(cursor);
}

function constantReader(values: readonly unknown[]): CanonicalReader {
  // No word is the beginning of another one, because strings end with a quote.
  const words = values.map((value) => ({ word: JSON.stringify(value), value }));
  if (words.some(({ value }) => typeof value !== 'string' && typeof value !== 'boolean')) throw unknownPart('constant');
  let last = words[0];
  return (cursor) => {
    if (last !== undefined && hasWord(cursor.text, last.word, cursor.at)) {
      cursor.at += last.word.length;
      return last.value;
    }
    last = words.find(({ word }) => hasWord(cursor.text, word, cursor.at)) ?? last;
    return last === undefined ? undefined : readWord(cursor, last);
  };
}

const rememberedValues = 4;
const rememberedLengthMax = 4_096;

/**
 * Remembers a few values with their texts. A text that begins with the text of an array or object has the same value
 * there. The values are frozen, because several results share them.
 */
function rememberingReader(read: CanonicalReader): CanonicalReader {
  const remembered: { text: string; value: unknown }[] = [];
  let next = 0;
  return (cursor) => {
    const { text, at } = cursor;
    for (const entry of remembered)
      if (hasWord(text, entry.text, at)) {
        cursor.at = at + entry.text.length;
        return entry.value;
      }
    const value = read(cursor);
    const length = cursor.at - at;
    if (typeof value !== 'object' || value === null || length > rememberedLengthMax) return value;
    remembered[next] = { text: ` ${text.slice(at, cursor.at)}`.slice(1), value: frozen(value) };
    next = (next + 1) % rememberedValues;
    return value;
  };
}

function frozen(value: object): object {
  for (const item of Object.values(value)) if (typeof item === 'object' && item !== null) frozen(item as object);
  return Object.freeze(value);
}

function partOf(schema: Schema | undefined): Schema {
  if (schema === undefined) throw unknownPart('empty part');
  return schema;
}

function unknownPart(what: string): Error {
  return new Error(`No canonical reader exists for this part of a schema: ${what}`);
}
