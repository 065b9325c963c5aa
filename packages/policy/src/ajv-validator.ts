import { Ajv } from 'ajv';
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ArgumentValidator } from './argument-validator.ts';
import { describeFault } from './describe-fault.ts';
import { linearRegExp } from './linear-regexp.ts';
import { meteredKeywords, TooMuchWork } from './metered-keywords.ts';
import { meteredSchema } from './metered-schema.ts';
import { Work } from './work.ts';

type Compiled = { validate: ValidateFunction } | { fault: string };

const uncompilable: Compiled = { fault: 'the schema cannot be compiled' };

/**
 * The maximum work for the arguments of one call, about a fortieth of a second. A schema that refers to itself several
 * times has no other limit, since each level of the arguments multiplies the work.
 */
const workMax = 200_000;

/** The registry entry keeps its schema object, so removing the entry also removes the validator. */
const compiledSchemas = new WeakMap<object, Compiled>();

const options = {
  strict: false,
  validateFormats: false,
  // If references were inlined, a hostile schema would become megabytes of code.
  inlineRefs: false,
  logger: false as const,
  // Keywords count the work of the call, which they get as `this`.
  passContext: true,
  // Attacker-controlled patterns of member names never reach a backtracking engine. The generated code is not
  // optimised, since that would take several times as long as generating it.
  code: {
    // Stryker disable next-line StringLiteral: The library reads the name only when it writes standalone code.
    regExp: Object.assign((pattern: string) => linearRegExp(pattern), { code: 'linearRegExp' }),
    // Stryker disable next-line BooleanLiteral: Speed alone: compiling takes longer.
    optimize: false,
  },
};
const dialects = {
  draft07: { Dialect: Ajv, metaSchema: new Ajv(options) },
  draft2020: { Dialect: Ajv2020, metaSchema: new Ajv2020(options) },
};

/**
 * The default validator. Generates code (`new Function`), which a content security policy may refuse. Pass a different
 * {@link ArgumentValidator} there. No remote references, formats are annotations, arguments are never changed.
 */
export const validateWithAjv: ArgumentValidator = (schema, args) => {
  const compiled = compiledSchemas.get(schema) ?? compileAndKeep(schema);
  if ('fault' in compiled) return compiled.fault;
  try {
    // Strictly `true`: a schema marked `$async` returns a promise, which does not mean valid.
    return compiled.validate.call(new Work(workMax), args) === true ? null : faultOf(compiled.validate);
  } catch (error) {
    // The returned fault is about these arguments only, because one call must not disable a tool for all callers.
    return error instanceof TooMuchWork
      ? 'checking the arguments would take too long'
      : 'the schema could not be applied';
  }
};

/** Compiles a schema before its first call. Compiling takes up to about thirty milliseconds. Never throws. */
export function prepareSchema(schema: Record<string, unknown>): void {
  if (!isSchemaPrepared(schema)) compileAndKeep(schema);
}

export function isSchemaPrepared(schema: Record<string, unknown>): boolean {
  return compiledSchemas.has(schema);
}

function compileAndKeep(schema: Record<string, unknown>): Compiled {
  const compiled = compile(schema);
  compiledSchemas.set(schema, compiled);
  return compiled;
}

// Each schema has its own instance. Schemas in one instance would share compiled code, `$id` and pattern names.
function compile(schema: Record<string, unknown>): Compiled {
  const { Dialect, metaSchema } = dialects[dialectOf(schema)];
  try {
    const metered = meteredSchema(schema);
    // Stryker disable next-line ConditionalExpression: Compiling without a copy fails too.
    if (metered === null || metaSchema.validateSchema(schema) !== true) return uncompilable;
    return { validate: metering(Dialect).compile(metered) };
  } catch {
    return uncompilable;
  }
}

function metering(Dialect: typeof Ajv | typeof Ajv2020): Ajv | Ajv2020 {
  // Stryker disable next-line BooleanLiteral: Speed alone: the schema was checked against its dialect before.
  const ajv = new Dialect({ ...options, meta: false, validateSchema: false });
  for (const keyword of meteredKeywords) ajv.removeKeyword(keyword.keyword).addKeyword(keyword);
  return ajv;
}

function dialectOf(schema: Record<string, unknown>): keyof typeof dialects {
  // Stryker disable next-line StringLiteral: No dialect has this name.
  return /draft-0[67]/.test(String(schema['$schema'] ?? '')) ? 'draft07' : 'draft2020';
}

function faultOf(validate: ValidateFunction): string {
  // Stryker disable next-line OptionalChaining: A failed check has an error. Promises are rejected in the same way.
  const error = validate.errors?.[0];
  // Stryker disable next-line ConditionalExpression: A failed check has an error. Promises are rejected in the same
  // way.
  return error === undefined ? 'the schema could not be applied' : describeFault(error);
}
