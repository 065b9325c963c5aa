import type { PlainJson } from '@countersign/contracts';
import type { Fact, RelationshipFact } from '../facts.ts';
import { neededRelations, type NeededRelations } from '../relations.ts';
import { knownPolicy, outcomeOf, type Again } from './recorded-call.ts';

/** The relations that the rules of the draft see: the recorded answers, under the draft's own names. */
export function relationshipAgain(again: Again): Fact<RelationshipFact> {
  const needed = neededRelations(again.draft, again.intent);
  if (needed === null) return { state: 'not_applicable' };
  const relations: Record<string, boolean> = {};
  const answers = answersThen(again);
  for (const [name, question] of askable(needed)) {
    const answer = answers.get(question);
    if (typeof answer === 'boolean') relations[name] = answer;
  }
  // Stryker disable next-line StringLiteral: No gate reads it.
  const value = { snapshot_hash: '', age_ms: 0, age_max_ms: 0, relations, required: needed.required };
  return { state: 'known', value };
}

/**
 * Relations that the draft needs and that were not queried when the call was made. If no relation is missing, but the
 * gate read no snapshot, the gate itself is listed as missing.
 */
export function missingRelations(again: Again): string[] {
  const answers = answersThen(again);
  const questions = askable(neededRelations(again.draft, again.intent));
  const missing = questions.filter(([, question]) => !answers.has(question)).map(([name]) => `relations.${name}`);
  if (missing.length > 0) return missing;
  return isJudged(again) ? [] : ['gates.relationship'];
}

/** Whether the gate read a snapshot. */
function isJudged({ record }: Again): boolean {
  const outcome = outcomeOf(record, 'relationship')?.outcome;
  return outcome === 'pass' || outcome === 'deny';
}

export function isSnapshotStale({ record }: Again): boolean {
  return outcomeOf(record, 'relationship')?.reason_code === 'AUTHZ_SNAPSHOT_STALE';
}

/** Each recorded query with its result. The result is `undefined` when there was none. */
function answersThen(again: Again): Map<string, PlainJson | undefined> {
  const recorded = knownPolicy(again);
  // Stryker disable next-line ArrayDeclaration: The mutant's query belongs to no relation.
  const questions = recorded === null ? [] : askable(neededRelations(recorded, again.sealed));
  const { facts } = again.record.intent;
  return new Map(questions.map(([name, question]) => [question, facts[`relations.${name}`]]));
}

/** Names of relations with their queries. A query with missing variables is omitted. */
function askable(needed: NeededRelations | null): [name: string, question: string][] {
  // Stryker disable next-line ArrayDeclaration: The mutant's query belongs to no relation.
  return [...(needed?.questions ?? [])].flatMap(([name, question]) =>
    // Stryker disable next-line ArrayDeclaration: The mutant's query belongs to no relation.
    question === null ? [] : [[name, `${question.object}#${question.relation}@${question.subject}`]],
  );
}
