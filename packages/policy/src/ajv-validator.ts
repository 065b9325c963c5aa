import { Ajv } from 'ajv';
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ArgumentValidator } from './argument-validator.ts';
import { compileLinearRegExp } from './linear-regexp.ts';

type Compiled = { validate: ValidateFunction } | { fault: string };

/** By identity: whoever holds a registry entry keeps its schema object, and dropping the entry drops the validator. */
const compiledSchemas = new WeakMap<object, Compiled>();

const options = {
  strict: false,
  validateFormats: false,
  // A hostile schema names itself like another one, or expands its references into megabytes of code.
  addUsedSchema: false,
  inlineRefs: false,
  logger: false as const,
  // Attacker-controlled patterns never reach a backtracking engine.
  code: { regExp: Object.assign((pattern: string) => compileLinearRegExp(pattern), { code: 'linearRegExp' }) },
};
const draft07 = new Ajv(options);
const draft2020 = new Ajv2020(options);

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

function compile(schema: Record<string, unknown>): Compiled {
  if ('$async' in schema) return { fault: 'the schema cannot be compiled' };
  const ajv = /draft-0[67]/.test(String(schema['$schema'] ?? '')) ? draft07 : draft2020;
  try {
    return { validate: ajv.compile(schema) };
  } catch {
    return { fault: 'the schema cannot be compiled' };
  } finally {
    ajv.removeSchema(schema); // Ajv's own cache would hold every schema for ever
  }
}

function faultOf(validate: ValidateFunction): string {
  const [error] = validate.errors ?? [];
  return error === undefined ? 'the schema could not be applied' : `${error.keyword} at ${error.schemaPath}`;
}
