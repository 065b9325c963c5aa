import { isDeepStrictEqual } from 'node:util';

/** JSON Schema 2020-12, as far as the contracts use it. */
export type Schema = {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
} & Partial<Record<Bound, number>> & { pattern?: string };

const lowerBounds = ['minLength', 'minimum', 'minItems'] as const;
const upperBounds = ['maxLength', 'maximum', 'maxItems'] as const;
type Bound = (typeof lowerBounds)[number] | (typeof upperBounds)[number];

type Content = Record<string, { schema?: Schema }>;
type Parameter = { in: string; name: string; required?: boolean; schema?: Schema };
export type Operation = {
  security?: unknown[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  /** The description of a failure lists its error codes. */
  responses: Record<string, { description?: string; content?: Content }>;
};
export type OpenApi = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

/** A change that breaks clients of the first document: the operation as `METHOD path`, and the changed member. */
export type Incompatibility = { operation: string; problem: string };

/** `request`: a later server must accept what clients send. `reply`: a later server must return what clients read. */
type Direction = 'request' | 'reply';

/**
 * All changes in the second document that break a client of the first. Clients ignore unknown members and codes, so
 * additions to replies break nothing. Routes below `/internal` may change freely.
 */
export function incompatibilities(before: OpenApi, after: OpenApi): Incompatibility[] {
  return operationsOf(before).flatMap(({ path, method, operation }) => {
    const name = `${method.toUpperCase()} ${path}`;
    const now = after.paths[path]?.[method];
    const problems =
      now === undefined ? ['the operation was removed'] : new Comparison(before, after).of(operation, now);
    return [...new Set(problems)].map((problem) => ({ operation: name, problem }));
  });
}

function operationsOf({ paths }: OpenApi) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    path.startsWith('/internal')
      ? []
      : Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}

class Comparison {
  readonly #before: OpenApi;
  readonly #after: OpenApi;
  /** Pairs of named schemas that were already compared. Schemas may contain themselves. */
  readonly #compared = new Set<string>();

  constructor(before: OpenApi, after: OpenApi) {
    this.#before = before;
    this.#after = after;
  }

  of(before: Operation, after: Operation): string[] {
    return [
      ...credentialProblems(before.security ?? [], after.security ?? []),
      ...this.#parameters(before.parameters ?? [], after.parameters ?? []),
      ...this.#body(before, after),
      ...this.#replies(before, after),
    ];
  }

  #parameters(before: Parameter[], after: Parameter[]): string[] {
    const nameOf = ({ in: place, name }: Parameter) => `${place} ${name}`;
    const removed = before.flatMap((parameter) => {
      const now = after.find((each) => nameOf(each) === nameOf(parameter));
      if (now === undefined) return [`${nameOf(parameter)} was removed`];
      return this.#schema('request', parameter.schema ?? {}, now.schema ?? {}, nameOf(parameter));
    });
    const isNewlyRequired = (now: Parameter) =>
      now.required === true && before.find((each) => nameOf(each) === nameOf(now))?.required !== true;
    return [...removed, ...after.filter(isNewlyRequired).map((now) => `${nameOf(now)} became required`)];
  }

  #body({ requestBody: before }: Operation, { requestBody: after }: Operation): string[] {
    if (before === undefined) return after?.required === true ? ['a request body became required'] : [];
    if (after === undefined) return ['the request body was removed'];
    const isStricter = after.required === true && before.required !== true;
    return [
      ...(isStricter ? ['the request body became required'] : []),
      ...this.#content('request', before.content, after.content),
    ];
  }

  #replies({ responses: before }: Operation, { responses: after }: Operation): string[] {
    return Object.entries(before).flatMap(([status, was]) => {
      const is = after[status];
      if (is === undefined) return [`status ${status} was removed`];
      const codes = errorCodesOf(was).filter((code) => !errorCodesOf(is).includes(code));
      const content = this.#content('reply', was.content ?? {}, is.content ?? {});
      return [...codes.map((code) => `status ${status} lost the code ${code}`), ...content];
    });
  }

  #content(direction: Direction, before: Content, after: Content): string[] {
    return Object.entries(before).flatMap(([mediaType, { schema = {} }]) => {
      const now = after[mediaType];
      if (now === undefined) return [`${direction} ${mediaType} was removed`];
      return this.#schema(direction, schema, now.schema ?? {}, direction);
    });
  }

  #schema(direction: Direction, before: Schema, after: Schema, at: string): string[] {
    if (before.$ref !== undefined || after.$ref !== undefined) {
      const pair = `${direction} ${before.$ref ?? JSON.stringify(before)} ${after.$ref ?? JSON.stringify(after)}`;
      if (this.#compared.has(pair)) return [];
      this.#compared.add(pair);
    }
    const [was, is] = [resolved(this.#before, before), resolved(this.#after, after)];
    return [
      ...typeProblems(direction, this.#types(was, is), at),
      ...valueProblems(direction, was, is, at),
      ...(direction === 'request' ? boundProblems(was, is, at) : []),
      ...this.#properties(direction, was, is, at),
      ...this.#members(direction, was, is, at),
    ];
  }

  #types(was: Schema, is: Schema): Types {
    return [typesOf(was, this.#before), typesOf(is, this.#after)];
  }

  #properties(direction: Direction, was: Schema, is: Schema, at: string): string[] {
    const [before, after] = [was.properties ?? {}, is.properties ?? {}];
    const [required, nowRequired] = [was.required ?? [], is.required ?? []];
    const members = Object.entries(before).flatMap(([name, schema]) => {
      const now = after[name];
      if (now === undefined) return isOpen(is) && direction === 'request' ? [] : [`${at}.${name} was removed`];
      return this.#schema(direction, schema, now, `${at}.${name}`);
    });
    const moved =
      direction === 'request'
        ? nowRequired.filter((name) => !required.includes(name)).map((name) => `${at}.${name} became required`)
        : required
            .filter((name) => name in after && !nowRequired.includes(name))
            .map((name) => `${at}.${name} became optional`);
    return [...members, ...moved];
  }

  #members(direction: Direction, was: Schema, is: Schema, at: string): string[] {
    const inItems = was.items !== undefined ? this.#schema(direction, was.items, is.items ?? {}, `${at}[]`) : [];
    const [values, nowValues] = [was.additionalProperties, is.additionalProperties];
    const inValues =
      typeof values === 'object' && typeof nowValues === 'object'
        ? this.#schema(direction, values, nowValues, `${at}{}`)
        : [];
    const branches = [was.anyOf ?? was.oneOf ?? [], is.anyOf ?? is.oneOf ?? [is]] as const;
    return [
      ...inItems,
      ...inValues,
      ...this.#branches(direction, branches, at),
      ...this.#whole(direction, was, is, at),
    ];
  }

  /** For each alternative that clients know, a later alternative must accept or return the same. */
  #branches(direction: Direction, [before, after]: readonly [Schema[], Schema[]], at: string): string[] {
    return before.flatMap((branch) => {
      const problems = after.map((now) =>
        new Comparison(this.#before, this.#after).#schema(direction, branch, now, at),
      );
      if (problems.some((found) => found.length === 0)) return [];
      return problems.toSorted((a, b) => a.length - b.length)[0] ?? [`${at} lost an alternative`];
    });
  }

  #whole(direction: Direction, was: Schema, is: Schema, at: string): string[] {
    const after = is.allOf ?? [];
    return (was.allOf ?? []).flatMap((piece, nth) => this.#schema(direction, piece, after[nth] ?? is, at));
  }
}

function errorCodesOf({ description = '' }: { description?: string }): string[] {
  return description.split(', ').filter((word) => /^[A-Z][A-Z0-9_]+$/.test(word));
}

function resolved({ components }: OpenApi, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...beside } = schema;
  const named = components.schemas[$ref.replace('#/components/schemas/', '')];
  if (named === undefined) throw new Error(`${$ref} names no schema`);
  return { ...named, ...beside };
}

const isOpen = ({ additionalProperties }: Schema) => additionalProperties !== false;

/** Any one of the listed credentials suffices for an operation. Without a list the operation is open. */
function credentialProblems(before: unknown[], after: unknown[]): string[] {
  if (after.length === 0) return [];
  const isKept = (way: unknown) => after.some((each) => isDeepStrictEqual(each, way));
  return before.length > 0 && before.every(isKept) ? [] : ['the credentials changed'];
}

type Types = [before: string[] | null, after: string[] | null];

function typeProblems(direction: Direction, [before, after]: Types, at: string): string[] {
  if (before === null || after === null) return direction === 'reply' && before !== null ? [`${at} lost its type`] : [];
  const [existing, allowed] = direction === 'request' ? [after, before] : [before, after];
  const others = allowed.filter(
    (type) => !existing.includes(type) && !(type === 'integer' && existing.includes('number')),
  );
  return others.map((type) => (direction === 'request' ? `${at} no longer takes ${type}` : `${at} may be ${type}`));
}

/** `null` when any type is allowed, when an alternative allows any type, or when only `allOf` states the types. */
function typesOf(schema: Schema, document: OpenApi): string[] | null {
  const { type, enum: values, const: value, anyOf, oneOf } = resolved(document, schema);
  if (type !== undefined) return [type].flat();
  const branches = (anyOf ?? oneOf)?.map((branch) => typesOf(branch, document));
  if (branches !== undefined) return branches.every((each) => each !== null) ? [...new Set(branches.flat())] : null;
  const only = values ?? (value === undefined ? null : [value]);
  return only === null ? null : [...new Set(only.map((each) => (each === null ? 'null' : typeof each)))];
}

/** A removed value is an error, since clients may send it or wait for it. */
function valueProblems(direction: Direction, was: Schema, is: Schema, at: string): string[] {
  const [before, after] = [valuesOf(was), valuesOf(is)];
  if (before === null) return direction === 'request' && after !== null ? [`${at} takes certain values only`] : [];
  if (after === null) return [];
  const removed = before.filter((value) => !after.some((each) => isDeepStrictEqual(each, value)));
  return removed.map((value) => `${at} lost the value ${JSON.stringify(value)}`);
}

function valuesOf({ enum: values, const: value }: Schema): unknown[] | null {
  return values ?? (value === undefined ? null : [value]);
}

function boundProblems(was: Schema, is: Schema, at: string): string[] {
  const raised = lowerBounds.filter((bound) => (is[bound] ?? -Infinity) > (was[bound] ?? -Infinity));
  const lowered = upperBounds.filter((bound) => (is[bound] ?? Infinity) < (was[bound] ?? Infinity));
  const pattern = is.pattern !== undefined && is.pattern !== was.pattern ? [`${at} has another pattern`] : [];
  return [...[...raised, ...lowered].map((bound) => `${at} has a stricter ${bound}`), ...pattern];
}
