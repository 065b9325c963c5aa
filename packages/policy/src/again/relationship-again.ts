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

/** Answers that the draft needs and that were not queried when the call was made. */
export function missingRelations(again: Again): string[] {
  const answers = answersThen(again);
  const questions = askable(neededRelations(again.draft, again.intent));
  const missing = questions.filter(([, question]) => !answers.has(question)).map(([name]) => `relations.${name}`);
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

/** Each recorded question with its answer; undefined when there was none. */
function answersThen(again: Again): Map<string, PlainJson | undefined> {
  const recorded = knownPolicy(again);
  // Stryker disable next-line ArrayDeclaration: No relation is asked for in that way.
  const questions = recorded === null ? [] : askable(neededRelations(recorded, again.sealed));
  const { facts } = again.record.intent;
  return new Map(questions.map(([name, question]) => [question, facts[`relations.${name}`]]));
}

/** Names of relations with the question for each; a question that the call does not fill cannot be asked. */
function askable(needed: NeededRelations | null): [name: string, question: string][] {
  // Stryker disable next-line ArrayDeclaration: A question of one letter is asked for by no relation.
  return [...(needed?.questions ?? [])].flatMap(([name, question]) =>
    // Stryker disable next-line ArrayDeclaration: A question of one letter is asked for by no relation.
    question === null ? [] : [[name, `${question.object}#${question.relation}@${question.subject}`]],
  );
}
