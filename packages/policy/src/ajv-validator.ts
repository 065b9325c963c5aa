import type { JsonValue } from '@countersign/crypto';
import { Ajv } from 'ajv';
import type { FuncKeywordDefinition, Options, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ArgumentValidator } from './argument-validator.ts';
import { compileLinearRegExp } from './linear-regexp.ts';
import { isTooCostly } from './schema-cost.ts';
import { areUnique } from './unique-items.ts';

type Compiled = { validate: ValidateFunction } | { fault: string };

const uncompilable: Compiled = { fault: 'the schema cannot be compiled' };

/** By identity: whoever holds a registry entry keeps its schema object, and dropping the entry drops the validator. */
const compiledSchemas = new WeakMap<object, Compiled>();

const options = {
  strict: false,
  validateFormats: false,
  // A hostile schema expands its references into megabytes of code.
  inlineRefs: false,
  logger: false as const,
  // Attacker-controlled patterns never reach a backtracking engine.
  code: { regExp: Object.assign((pattern: string) => compileLinearRegExp(pattern), { code: 'linearRegExp' }) },
};
/** Ajv holds each object against each other one: 50,000, which fit into a request, take half a minute. */
const keywords = [
  { keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', validate: isUniqueAsAsked },
] satisfies FuncKeywordDefinition[];
const dialects = {
  draft07: { Dialect: Ajv, metaSchema: instanceOf(Ajv, {}) },
  draft2020: { Dialect: Ajv2020, metaSchema: instanceOf(Ajv2020, {}) },
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
    return compiled.validate(args) === true ? null : faultOf(compiled.validate);
  } catch {
    return 'the schema could not be applied';
  }
};

function compileAndKeep(schema: Record<string, unknown>): Compiled {
  const compiled = compile(schema);
  compiledSchemas.set(schema, compiled);
  return compiled;
}

// One instance for each schema: Ajv keeps what it compiled, and schemas of one instance share their $id and pattern names.
function compile(schema: Record<string, unknown>): Compiled {
  const { Dialect, metaSchema } = dialects[dialectOf(schema)];
  try {
    if (isTooCostly(schema) || metaSchema.validateSchema(schema) !== true) return uncompilable;
    return { validate: instanceOf(Dialect, { meta: false, validateSchema: false }).compile(schema) };
  } catch {
    return uncompilable;
  }
}

function instanceOf(Dialect: typeof Ajv | typeof Ajv2020, more: Options): Ajv | Ajv2020 {
  const ajv = new Dialect({ ...options, ...more });
  for (const keyword of keywords) ajv.removeKeyword(keyword.keyword).addKeyword(keyword);
  return ajv;
}

function isUniqueAsAsked(asked: boolean, items: JsonValue[]): boolean {
  return !asked || areUnique(items);
}

function dialectOf(schema: Record<string, unknown>): keyof typeof dialects {
  return /draft-0[67]/.test(String(schema['$schema'] ?? '')) ? 'draft07' : 'draft2020';
}

function faultOf(validate: ValidateFunction): string {
  const [error] = validate.errors ?? [];
  return error === undefined ? 'the schema could not be applied' : `${error.keyword} at ${error.schemaPath}`;
}
