import { readFileSync, statSync } from 'node:fs';
import type { z } from 'zod';
import { fieldLayers } from './field-layers.ts';
import { nearestName } from './nearest-name.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

type ReadConfigOptions = {
  /** Variables with this prefix must be known. A misspelt variable stops the start. */
  prefix: string;
  /** Variables of sibling services that share this environment in the embedded profile. */
  knownElsewhere?: readonly string[];
};

/** Lists every problem of the environment at once. It never contains a value, so it is safe to print. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration has ${problems.length} problem(s):\n${problems.map((line) => `  - ${line}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Parses a variable that contains a document. Faults of the document are reported under the variable's name. */
export function sound<Value>(name: string, parse: () => Value): Value {
  try {
    return parse();
  } catch (cause) {
    throw new ConfigError([`${name} is malformed: ${cause instanceof Error ? cause.message : String(cause)}`]);
  }
}

type SecretRule = { lengthMin: number };

/**
 * Reads the environment once, by a zod object whose members are variable names. Empty variables count as unset. Each
 * variable made by `secret()`, `secretUrl()` or `secretHeaders()` may be set as `<NAME>_FILE` instead. Throws
 * ConfigError that lists all variables that are missing, malformed, unknown or set twice. With NODE_ENV=production, it
 * also lists those that are too weak, or in a file that others can read. Removes the secrets from the process's own
 * environment.
 */
export function readConfig<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  env: Environment,
  options: ReadConfigOptions,
): Readonly<z.infer<z.ZodObject<Shape>>> {
  const secrets = secretRules(schema);
  const problems = unknownVariables(Object.keys(schema.shape), [...secrets.keys()], env, options);
  const values = Object.fromEntries(
    Object.keys(schema.shape).map((name) => [name, readVariable(name, secrets.has(name), env, problems)]),
  );
  if (env['NODE_ENV'] === 'production')
    problems.push(...weakSecrets(secrets, values), ...openSecretFiles(secrets, env));
  const parsed = schema.safeParse(values);
  if (!parsed.success) problems.push(...parsed.error.issues.map((issue) => describeIssue(issue, values)));
  if (!parsed.success || problems.length > 0) throw new ConfigError([...new Set(problems)]);
  forgetSecrets(secrets, env);
  return Object.freeze(parsed.data);
}

/**
 * Deletes the secrets, so that child processes and printed environments do not contain them. Environments that a caller
 * created are unchanged.
 */
function forgetSecrets(secrets: ReadonlyMap<string, SecretRule>, env: Environment): void {
  if (env !== process.env) return;
  for (const name of secrets.keys()) delete process.env[name];
}

function unknownVariables(
  names: readonly string[],
  secretNames: readonly string[],
  env: Environment,
  options: ReadConfigOptions,
): string[] {
  const elsewhere = options.knownElsewhere ?? [];
  const twins = [...secretNames, ...elsewhere].map((name) => `${name}_FILE`);
  const accepted = new Set([...names, ...elsewhere, ...twins]);
  return Object.keys(env)
    .filter((name) => name.startsWith(options.prefix) && !accepted.has(name))
    .map((name) => `${name} is not a known variable${suggestion(name, [...accepted])}`);
}

function suggestion(name: string, names: readonly string[]): string {
  const nearest = nearestName(name, names);
  return nearest === null ? '; docs/reference/configuration.md lists the known ones' : `; did you mean ${nearest}?`;
}

function readVariable(name: string, isSecret: boolean, env: Environment, problems: string[]): string | undefined {
  const value = env[name] || undefined;
  const file = isSecret ? env[`${name}_FILE`] || undefined : undefined;
  if (file === undefined) return value;
  if (value !== undefined) {
    problems.push(`${name} and ${name}_FILE are both set; keep one`);
    return value;
  }
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch {
    problems.push(`${name}_FILE names a file that cannot be read`);
    return undefined;
  }
}

function describeIssue(issue: z.core.$ZodIssue, values: Record<string, unknown>): string {
  const name = issue.path.map(String).join('.') || 'configuration';
  return values[name] === undefined ? `${name} is missing` : `${name} is malformed: ${issue.message}`;
}

function secretRules(schema: z.ZodObject): Map<string, SecretRule> {
  const rules = new Map<string, SecretRule>();
  for (const [name, field] of Object.entries(schema.shape)) {
    const rule = secretRule(field);
    if (rule !== null) rules.set(name, rule);
  }
  return rules;
}

function secretRule(field: unknown): SecretRule | null {
  const meta = fieldLayers(field).find(({ meta: each }) => each['secret'] === true)?.meta;
  return meta === undefined ? null : { lengthMin: Number(meta['lengthMin']) };
}

const groupAndOthers = 0o077;
const others = 0o007;

/**
 * Detects secret files that accounts other than that of the service can read. For a file of our own, access of the
 * group counts too. A file of another owner is readable through our group, as in Kubernetes.
 */
function openSecretFiles(secrets: Map<string, SecretRule>, env: Environment): string[] {
  return [...secrets.keys()]
    .map((name) => `${name}_FILE`)
    .filter((name) => isOpenToOthers(env[name] ?? ''))
    .map((name) => `${name} names a file that others can read, which production refuses; give it mode 0400`);
}

function isOpenToOthers(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return false;
  return (found.mode & (found.uid === process.getuid?.() ? groupAndOthers : others)) !== 0;
}

const placeholder =
  /change.?me|placeholder|example|insecure|default|^(dev|test|demo|secret|password|admin|todo)|^(.)\2*$/i;

function weakSecrets(secrets: Map<string, SecretRule>, values: Record<string, string | undefined>): string[] {
  return [...secrets].flatMap(([name, rule]) => {
    const value = values[name];
    if (value === undefined || rule.lengthMin === 0) return [];
    if (placeholder.test(value))
      return [`${name} contains a placeholder, which production refuses; set a secret value`];
    return value.length < rule.lengthMin
      ? [`${name} must have at least ${rule.lengthMin} characters in production`]
      : [];
  });
}
