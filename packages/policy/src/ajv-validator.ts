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
 * The most work for the arguments of one call, about a fiftieth of a second. A schema that refers to itself by several
 * ways at once has no other bound: each level of the arguments multiplies it.
 */
const workMax = 200_000;

/**
 * Keyed by identity: the owner of a registry entry keeps its schema object, and dropping the entry drops the validator.
 */
const compiledSchemas = new WeakMap<object, Compiled>();

const options = {
  strict: false,
  validateFormats: false,
  // A hostile schema expands its references into megabytes of code.
  inlineRefs: false,
  logger: false as const,
  // Keywords take what they need from the work of the call, which is their `this`.
  passContext: true,
  // Attacker-controlled patterns of member names never reach a backtracking engine. The generated code is not
  // optimised, which would take several times as long as generating it.
  code: {
    // Stryker disable next-line StringLiteral: The library reads the name only when it writes standalone code, which is
    // unused here.
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
 * The default validator. Generates code (`new Function`), which a content security policy may refuse: inject another
 * {@link ArgumentValidator} there. No remote references, formats are annotations, arguments are never changed.
 */
export const validateWithAjv: ArgumentValidator = (schema, args) => {
  const compiled = compiledSchemas.get(schema) ?? compileAndKeep(schema);
  if ('fault' in compiled) return compiled.fault;
  try {
    // Strictly true: a schema marked `$async` answers with a promise, which is no "valid".
    return compiled.validate.call(new Work(workMax), args) === true ? null : faultOf(compiled.validate);
  } catch (error) {
    // Said of these arguments alone: one call must not take a tool from everybody.
    return error instanceof TooMuchWork ? 'judging them would take too long' : 'the schema could not be applied';
  }
};

/** Compiles a schema before a call is judged by it, where that is still to be done: it may take some ten milliseconds. Never throws. */
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

// One instance for each schema: Ajv keeps what it compiled, and schemas of one instance share their $id and pattern names.
function compile(schema: Record<string, unknown>): Compiled {
  const { Dialect, metaSchema } = dialects[dialectOf(schema)];
  try {
    const metered = meteredSchema(schema);
    // Stryker disable next-line ConditionalExpression: Without a copy there is nothing to compile, and what cannot be compiled says so.
    if (metered === null || metaSchema.validateSchema(schema) !== true) return uncompilable;
    return { validate: metering(Dialect).compile(metered) };
  } catch {
    return uncompilable;
  }
}

function metering(Dialect: typeof Ajv | typeof Ajv2020): Ajv | Ajv2020 {
  // Stryker disable next-line BooleanLiteral: Speed alone: the schema was held against the schema of its dialect before.
  const ajv = new Dialect({ ...options, meta: false, validateSchema: false });
  for (const keyword of meteredKeywords) ajv.removeKeyword(keyword.keyword).addKeyword(keyword);
  return ajv;
}

function dialectOf(schema: Record<string, unknown>): keyof typeof dialects {
  // Stryker disable next-line StringLiteral: No dialect is named so.
  return /draft-0[67]/.test(String(schema['$schema'] ?? '')) ? 'draft07' : 'draft2020';
}

function faultOf(validate: ValidateFunction): string {
  // Stryker disable next-line OptionalChaining: A validator that answers no has an error; a promise is refused with the same words.
  const error = validate.errors?.[0];
  // Stryker disable next-line ConditionalExpression: A validator that answers no has an error; a promise is refused with the same words.
  return error === undefined ? 'the schema could not be applied' : describeFault(error);
}
