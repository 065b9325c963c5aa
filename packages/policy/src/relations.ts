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
  /** The members of a call that the question reads, and the answer itself. */
  readonly reads: readonly string[];
  /** The patterns of tools for which it is required, as they read. */
  readonly requiredMeant: readonly string[];
};

/** Does the subject have the relation with the object? */
export type RelationQuestion = { readonly object: string; readonly relation: string; readonly subject: string };

/** The relations that a decision needs. A question that the call does not fill is `null`, since it has no answer. */
export type NeededRelations = {
  readonly questions: ReadonlyMap<string, RelationQuestion | null>;
  readonly required: readonly string[];
};

const member = '[A-Za-z_][A-Za-z0-9_]*';
const placeholder = new RegExp(`\\{(action|tool|resource|principal|tenant|session|args(?:\\.${member}){1,8})\\}`, 'g');

/** Throws {@link PolicyError} for a template that could never be filled, and for rules that read relations in another way than by a declared name. */
export function compileRelations(
  { relations = {} }: PolicyBundle,
  rules: readonly CompiledRule[],
): Map<string, CompiledRelation> {
  const compiled = Object.entries(relations).map(([name, declared]) => compileRelation(name, declared));
  for (const { position, when } of rules)
    // Stryker disable next-line ArrayDeclaration: It is the path of no relation.
    for (const path of when?.reads ?? []) requireDeclared(path, { relations, at: `/rules/${position}/when` });
  return new Map(compiled.map((relation) => [relation.name, relation]));
}

function compileRelation(name: string, declared: PolicyRelation): CompiledRelation {
  const reads = [`relations.${name}`];
  for (const side of ['object', 'subject'] as const) {
    const at = `/relations/${name}/${side}`;
    reads.push(...placeholdersOf(declared[side], at));
    const shape = side === 'object' ? EntityName : SubjectName;
    // With a value in each place it has to be a name; a place alone may be filled with any.
    if (!/^\{[^}]*\}$/.test(declared[side]) && !shape.safeParse(declared[side].replaceAll(placeholder, 'x')).success)
      throw new PolicyError('RELATION_INVALID', at, 'is no name, whatever it is filled with');
  }
  return { name, declared, reads, requiredMeant: (declared.required?.tool ?? []).map(meaningOf) };
}

function placeholdersOf(template: string, at: string): string[] {
  // Stryker disable next-line StringLiteral: The rest of a template holds no more brackets.
  const rest = template.replaceAll(placeholder, '');
  if (/[{}]/.test(rest) || template.includes('__proto__'))
    throw new PolicyError('RELATION_INVALID', at, 'holds a place that nothing fills');
  return [...template.matchAll(placeholder)].map(([, path = '']) => path);
}

type Declared = { relations: Readonly<Record<string, PolicyRelation>>; at: string };

/** `relations` as a whole would hide which of them a rule reads. */
function requireDeclared(path: string, { relations, at }: Declared): void {
  const [root, name, ...deeper] = path.split('.');
  if (root !== 'relations') return;
  if (name === undefined || deeper.length > 0)
    throw new PolicyError('EXPRESSION_INVALID', at, 'relations are read by name, as in relations.viewer');
  if (!Object.hasOwn(relations, name))
    throw new PolicyError('VARIABLE_UNKNOWN', at, `the bundle declares no relation ${name}`);
}

/** The patterns of tools that require a relation, as they read: a model call names tools in any spelling. */
export function hostedGlobsInSteps(relations: CompiledPolicy['relations']): Generator<void, GlobSet> {
  return GlobSet.inSteps([...relations.values()].flatMap(({ requiredMeant }) => requiredMeant));
}

/**
 * Null where no rule that covers the call reads a relation, and none is required. Where the work is spent, all are needed and required: what
 * shares the work denies the call.
 */
export function neededRelations(policy: CompiledPolicy, intent: Intent, work = decisionWork()): NeededRelations | null {
  // Stryker disable next-line ConditionalExpression: Speed alone: without relations nothing is needed.
  if (policy.relations.size === 0) return null;
  // Stryker disable next-line ArrayDeclaration: It is the path of no relation.
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
    // A model call that lets its provider run a tool is a call of that tool, however it is spelled.
    const coversHosted = () => requiredMeant.some((glob) => work.takeSteps(1) && meant.has(glob));
    const isCovered = call.isCoveredBy(required) || (call.isCoveredBesideTool(required) && coversHosted());
    return isCovered || work.isSpent;
  };
}

const nothing: ReadonlySet<string> = new Set();

/** The patterns that some tool matches which a provider may run. */
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

/** Empty, which is no name, unless every place is filled. */
function filled(template: string, intent: Intent): string {
  const texts = [...template.matchAll(placeholder)].map(([, path = '']) => textAt(intent, path.split('.')));
  if (texts.includes(null)) return '';
  return template.replaceAll(placeholder, () => texts.shift() ?? '');
}

/** No name of an entity or a subject is longer, so nothing longer is put together. */
const nameLengthMax = 1_024;

/** A `#` in a value would make another subject of it: everybody in a group. */
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
