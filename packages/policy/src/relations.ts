import {
  EntityName,
  SubjectName,
  type PolicyBundle,
  type PolicyRelation,
} from '@countersign/contracts/governance-kernel';
import type { PlainJson } from '@countersign/contracts';
import type { CompiledPolicy } from './compile-policy.ts';
import { meaningOf } from './declared-tools.ts';
import type { Intent } from './intent.ts';
import { PolicyError } from './policy-error.ts';
import { MatchedCall } from './call-globs.ts';
import { GlobSet } from './glob-set.ts';
import { matchingRules, type CompiledRule } from './rule-index.ts';
import { toolsNamed } from './tools-named.ts';
import { decisionWork, type Work } from './work.ts';

export type CompiledRelation = {
  readonly name: string;
  readonly declared: PolicyRelation;
  /** The members of a call that the query reads, and the path of its result. */
  readonly reads: readonly string[];
  /** The patterns of tools that require the relation, in canonical form. */
  readonly requiredMeant: readonly string[];
};

/** A query: does the subject have the relation with the object? */
export type RelationQuestion = { readonly object: string; readonly relation: string; readonly subject: string };

/** The relations that a decision needs. A query is `null` when the call lacks a value that the query needs. */
export type NeededRelations = {
  readonly questions: ReadonlyMap<string, RelationQuestion | null>;
  readonly required: readonly string[];
};

const member = '[A-Za-z_][A-Za-z0-9_]*';
const placeholder = new RegExp(`\\{(action|tool|resource|principal|tenant|session|args(?:\\.${member}){1,8})\\}`, 'g');

/**
 * Throws {@link PolicyError} for a template that no call can fill, and for rules that read relations other than by a
 * declared name.
 */
export function compileRelations(
  { relations = {} }: PolicyBundle,
  rules: readonly CompiledRule[],
): Map<string, CompiledRelation> {
  const compiled = Object.entries(relations).map(([name, declared]) => compileRelation(name, declared));
  for (const { position, when } of rules)
    // Stryker disable next-line ArrayDeclaration: The mutant's path names no relation.
    for (const path of when?.reads ?? []) requireDeclared(path, { relations, at: `/rules/${position}/when` });
  return new Map(compiled.map((relation) => [relation.name, relation]));
}

function compileRelation(name: string, declared: PolicyRelation): CompiledRelation {
  const reads = [`relations.${name}`];
  for (const side of ['object', 'subject'] as const) {
    const at = `/relations/${name}/${side}`;
    reads.push(...placeholdersOf(declared[side], at));
    const shape = side === 'object' ? EntityName : SubjectName;
    // With a value in each placeholder, the template must be a valid name. A template that is only a placeholder may be
    // any name.
    if (!/^\{[^}]*\}$/.test(declared[side]) && !shape.safeParse(declared[side].replaceAll(placeholder, 'x')).success)
      throw new PolicyError('RELATION_INVALID', at, 'no values of the placeholders make the template a valid name');
  }
  return { name, declared, reads, requiredMeant: (declared.required?.tool ?? []).map(meaningOf) };
}

function placeholdersOf(template: string, at: string): string[] {
  // Stryker disable next-line StringLiteral: The replacement contains no brackets.
  const rest = template.replaceAll(placeholder, '');
  if (/[{}]/.test(rest) || template.includes('__proto__'))
    throw new PolicyError('RELATION_INVALID', at, 'the template contains a placeholder that names no variable');
  return [...template.matchAll(placeholder)].map(([, path = '']) => path);
}

type Declared = { relations: Readonly<Record<string, PolicyRelation>>; at: string };

/** A rule must read a relation by its name. `relations` as a whole would hide which relation the rule reads. */
function requireDeclared(path: string, { relations, at }: Declared): void {
  const [root, name, ...deeper] = path.split('.');
  if (root !== 'relations') return;
  if (name === undefined || deeper.length > 0)
    throw new PolicyError('EXPRESSION_INVALID', at, 'relations must be read by name, such as relations.viewer');
  if (!Object.hasOwn(relations, name))
    throw new PolicyError('VARIABLE_UNKNOWN', at, `the bundle declares no relation ${name}`);
}

/** The patterns of tools that require a relation, in canonical form. A model call may spell a tool in any way. */
export function hostedGlobsInSteps(relations: CompiledPolicy['relations']): Generator<void, GlobSet> {
  return GlobSet.inSteps([...relations.values()].flatMap(({ requiredMeant }) => requiredMeant));
}

/**
 * `null` when no rule that covers the call reads a relation, and no relation is required. If the work is used up, each
 * relation that declares a requirement counts as required. The rules share this work, so they then deny the call.
 */
export function neededRelations(policy: CompiledPolicy, intent: Intent, work = decisionWork()): NeededRelations | null {
  // Stryker disable next-line ConditionalExpression: Speed alone: without relations, none is needed.
  if (policy.relations.size === 0) return null;
  // Stryker disable next-line ArrayDeclaration: The mutant's path names no relation.
  const read = new Set(matchingRules(policy.index, intent, work).flatMap(({ when }) => when?.reads ?? []));
  const isRequired = requirementsOf(policy, intent, work);
  const all = [...policy.relations.values()];
  const required = all.filter(isRequired).map(({ name }) => name);
  const needed = all.filter(({ name }) => read.has(`relations.${name}`) || required.includes(name));
  if (needed.length === 0) return null;
  return { questions: new Map(needed.map(({ name, declared }) => [name, questionOf(declared, intent)])), required };
}

function requirementsOf({ index, hosted }: CompiledPolicy, intent: Intent, work: Work) {
  const call = new MatchedCall(index.globs, intent, work);
  const meant = intent.tool === null ? matchingHosted(hosted, intent, work) : nothing;
  return ({ declared: { required }, requiredMeant }: CompiledRelation): boolean => {
    if (required === undefined) return false;
    // A model call that lets its provider run a tool counts as a call of that tool, in any spelling.
    const coversHosted = () => requiredMeant.some((glob) => work.takeSteps(1) && meant.has(glob));
    const isCovered = call.isCoveredBy(required) || (call.isCoveredBesideTool(required) && coversHosted());
    return isCovered || work.isSpent;
  };
}

const nothing: ReadonlySet<string> = new Set();

/** The patterns that match a tool which the provider may run. */
function matchingHosted(globs: GlobSet, intent: Intent, work: Work): ReadonlySet<string> {
  const found = new Set<string>();
  for (const tool of toolsNamed(intent)) {
    if (!work.takeSteps(tool.length)) break;
    for (const glob of globs.matching(meaningOf(tool), work)) if (work.takeSteps(1)) found.add(glob);
  }
  return found;
}

function questionOf({ object, relation, subject }: PolicyRelation, intent: Intent): RelationQuestion | null {
  const question = { object: filled(object, intent), relation, subject: filled(subject, intent) };
  if (!EntityName.safeParse(question.object).success || !SubjectName.safeParse(question.subject).success) return null;
  return question;
}

/** Returns an empty text, which is not a valid name, when a placeholder has no value. */
function filled(template: string, intent: Intent): string {
  const texts = [...template.matchAll(placeholder)].map(([, path = '']) => textAt(intent, path.split('.')));
  if (texts.includes(null)) return '';
  return template.replaceAll(placeholder, () => texts.shift() ?? '');
}

/** The maximum length of the name of an entity or a subject. Longer names are not built. */
const nameLengthMax = 1_024;

/**
 * The value as text, or `null`. A `#` in a value is refused, since it would change the subject to all members of a
 * group.
 */
function textAt(intent: Intent, steps: readonly string[]): string | null {
  const value = valueAt(intent, steps);
  const text = typeof value === 'string' || Number.isSafeInteger(value) ? String(value) : '';
  return text === '' || text.length > nameLengthMax || text.includes('#') ? null : text;
}

function valueAt(intent: Intent, [root = '', ...steps]: readonly string[]): PlainJson {
  const { action, tool, resource, principal, tenant, session, args } = intent;
  const members: Record<string, PlainJson> = { action, tool, resource, principal, tenant, session, args };
  let value = members[root] ?? null;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, step)) return null;
    value = value[step] ?? null;
  }
  return value;
}
