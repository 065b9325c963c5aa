import type { Fact, RelationshipFact } from '../facts.ts';
import { neededRelations, type RelationQuestion } from '../relations.ts';
import { knownPolicy, outcomeOf, type Again } from './recorded-call.ts';

/**
 * What the rules of the draft see of relations: the answers that the decision was given, under the draft's own names. `unavailable` says
 * which answer is missing, or that the snapshot was too old for any.
 */
export function relationshipAgain(again: Again): Fact<RelationshipFact> {
  const needed = neededRelations(again.draft, again.intent);
  if (needed === null) return { state: 'not_applicable' };
  const relations: Record<string, boolean> = {};
  const asked = askedThen(again);
  for (const [name, question] of needed.questions) {
    if (question === null) continue;
    const answer = asked.get(textOf(question));
    if (typeof answer === 'boolean') relations[name] = answer;
  }
  const value = { snapshot_hash: '', age_ms: 0, age_max_ms: 0, relations, required: needed.required };
  return { state: 'known', value };
}

/** Answers that the draft needs and nobody asked for when the call was made. */
export function missingRelations(again: Again): string[] {
  const needed = neededRelations(again.draft, again.intent);
  if (needed === null) return [];
  const asked = askedThen(again);
  const isAsked = ([, question]: [string, RelationQuestion | null]) => question === null || asked.has(textOf(question));
  const missing = [...needed.questions].filter((each) => !isAsked(each)).map(([name]) => `relations.${name}`);
  if (missing.length > 0) return missing;
  return isJudged(again) ? [] : ['gates.relationship'];
}

/** Did the gate look at a snapshot? */
function isJudged({ record }: Again): boolean {
  const outcome = outcomeOf(record, 'relationship')?.outcome;
  return outcome === 'pass' || outcome === 'deny';
}

export function isSnapshotStale({ record }: Again): boolean {
  return outcomeOf(record, 'relationship')?.reason_code === 'AUTHZ_SNAPSHOT_STALE';
}

/** Each question of then with its answer; undefined where nobody could answer it. */
function askedThen(again: Again): Map<string, boolean | undefined> {
  const recorded = knownPolicy(again);
  const asked = new Map<string, boolean | undefined>();
  const needed = recorded === null ? null : neededRelations(recorded, again.sealed);
  if (needed === null) return asked;
  const { facts } = again.record.intent;
  for (const [name, question] of needed.questions) {
    const answer = facts[`relations.${name}`];
    if (question !== null) asked.set(textOf(question), typeof answer === 'boolean' ? answer : undefined);
  }
  return asked;
}

function textOf({ object, relation, subject }: RelationQuestion): string {
  return `${object}#${relation}@${subject}`;
}
