import type { PlainJson } from '@countersign/contracts';
import type { BoundaryRecord } from '@countersign/contracts/governance-kernel';
import type { CompiledPolicy } from './compile-policy.ts';
import type { RuleEnvironment } from './evaluate-rules.ts';
import type { Facts } from './facts.ts';
import type { Intent } from './intent.ts';
import type { ReadPath } from './read-set.ts';

type RecordedFacts = Record<string, PlainJson>;
type Restored = { kind: 'restored'; intent: Intent; environment: RuleEnvironment; block: Facts['block'] };
type Unreplayable = { kind: 'UNREPLAYABLE'; missing: string[] };

/**
 * The values that the rules may read, by path, for `RecordedIntent.facts`: exactly the read set and nothing else of the
 * call. Absent members are omitted. A member on the way to them is recorded by its shape only: `{}`, or `null` when it
 * is not an object. `has()` therefore returns the same on replay.
 */
export function readFacts(policy: CompiledPolicy, intent: Intent, environment: RuleEnvironment): RecordedFacts {
  const values: RecordedFacts = {
    action: intent.action,
    tool: intent.tool,
    resource: intent.resource,
    principal: intent.principal,
    tenant: intent.tenant,
    session: intent.session,
    effect_level: intent.effect_level,
    args: intent.args,
    context: intent.context,
    relations: { ...environment.relations },
    now: environment.now,
  };
  const facts: RecordedFacts = {};
  for (const path of policy.readPaths) copyPath(values, path, facts);
  return facts;
}

/**
 * The paths that `policy` reads and that a record made under `recorded` lacks. Each of them makes a replay impossible.
 * A relation with the same name and a different query is a different relation.
 */
export function uncoveredReads(policy: CompiledPolicy, recorded: CompiledPolicy): string[] {
  return policy.readSet.filter((path) => {
    if (isInRecord(path)) return false;
    if (!recorded.readSet.some((read) => path === read || path.startsWith(`${read}.`))) return true;
    if (!path.startsWith('relations.')) return false;
    const name = path.slice('relations.'.length);
    return relationAsked(policy, name) !== relationAsked(recorded, name);
  });
}

function relationAsked({ bundle: { relations = {} } }: CompiledPolicy, name: string): string {
  const { object, relation, subject } = relations[name] ?? {};
  return JSON.stringify([object, relation, subject]);
}

/**
 * The call as far as the record contains it, which is enough to evaluate the rules of the recorded policy again.
 * `UNREPLAYABLE` when a fact was too large to be stored, since the record contains only its hash.
 */
export function restoreIntent(record: BoundaryRecord): Restored | Unreplayable {
  const missing = Object.keys(record.intent.capped_facts ?? {});
  if (missing.length > 0) return { kind: 'UNREPLAYABLE', missing: missing.sort() };
  const { relations, now } = rootsOf(record);
  const recordedRelations = Object.entries(objectOf(relations)).filter(([, holds]) => typeof holds === 'boolean');
  return {
    kind: 'restored',
    intent: restoredIntent(record),
    environment: {
      now: typeof now === 'string' ? now : record.created_at,
      relations: Object.fromEntries(recordedRelations.map(([name, holds]) => [name, holds === true])),
    },
    block: { state: 'known', value: { tool_blocked: record.tool_blocked === true } },
  };
}

/**
 * The call without the values that were too large to be stored. The caller must first check what the record contains.
 */
export function restoredIntent(record: BoundaryRecord): Intent {
  const { action, tool, resource, effect_level, args_hash, intent_hash } = record.intent;
  const { tenant_id: tenant, principal_id: principal, session_id: session } = record;
  const { args, context } = rootsOf(record);
  const call = { tenant, principal, session, action, tool, resource, effect_level, args_hash, intent_hash };
  return { ...call, args: objectOf(args), context: objectOf(context) };
}

function rootsOf({ intent: { facts } }: BoundaryRecord): RecordedFacts {
  const roots: RecordedFacts = {};
  for (const path of Object.keys(facts).sort()) setPath(roots, path.split('.'), facts[path] ?? null);
  return roots;
}

/** Members that every boundary record contains in addition to the facts. */
export function isInRecord(path: string): boolean {
  return ['action', 'tool', 'resource', 'principal', 'tenant', 'session', 'effect_level'].includes(path);
}

function copyPath(from: RecordedFacts, { path, steps, containers }: ReadPath, facts: RecordedFacts): void {
  let value: PlainJson = from;
  for (let depth = 0; depth < steps.length; depth += 1) {
    const parent: PlainJson = value;
    const [step = '', container = ''] = [steps[depth], containers[depth - 1]];
    // `args` and `context` are always objects, so their shapes are not recorded.
    if (depth >= 2) facts[container] ??= isObject(parent) ? {} : null;
    if (!isObject(parent) || !Object.hasOwn(parent, step)) return;
    value = parent[step] ?? null;
  }
  facts[path] = value;
}

function setPath(root: RecordedFacts, steps: readonly string[], value: PlainJson): void {
  let parent = root;
  for (const step of steps.slice(0, -1)) {
    const next = parent[step];
    if (next === null) return;
    parent = isObject(next) ? next : (parent[step] = {});
  }
  const last = steps.at(-1);
  // Stryker disable next-line ConditionalExpression: A path has a last step.
  if (last !== undefined) parent[last] = isObject(value) ? { ...value } : value;
}

function objectOf(value: PlainJson | undefined): Record<string, PlainJson> {
  return isObject(value) ? value : {};
}

function isObject(value: PlainJson | undefined): value is Record<string, PlainJson> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
