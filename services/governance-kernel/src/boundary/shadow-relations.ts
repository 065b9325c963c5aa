import {
  neededRelations,
  type CompiledPolicy,
  type Fact,
  type Intent,
  type NeededRelations,
  type RelationQuestion,
  type RelationshipFact,
  type Work,
} from '@countersign/policy';
import type { HeldRelations } from '../relations/relation-source.ts';

/** The active policy's questions, with their answers. */
export type AskedRelations = { readonly needed: NeededRelations | null; readonly held: HeldRelations };

/** The relations that a draft reads; `null` when it reads none. */
export type DraftRelations = Pick<RelationshipFact, 'relations' | 'required'> | null;

/**
 * A draft is told what the decision was told, under its own names. A draft gets the decision's answers under its own
 * names. `not_asked`: it needs an answer that the decision did not, and no draft makes a decision wait.
 */
export function draftRelations(
  policy: CompiledPolicy,
  intent: Intent,
  { needed: asked, held, work }: AskedRelations & { readonly work?: Work },
): DraftRelations | 'not_asked' {
  const needed = neededRelations(policy, intent, work);
  if (needed === null) return null;
  if (asked === null) return 'not_asked';
  const known = new Map([...asked.questions].map(([name, question]) => [textOf(question), name]));
  const relations: Record<string, boolean> = {};
  for (const [name, question] of needed.questions) {
    if (question === null) continue;
    const askedAs = known.get(textOf(question));
    if (askedAs === undefined) return 'not_asked';
    const answer = held.kind === 'read' ? held.relations[askedAs] : undefined;
    if (answer !== undefined) relations[name] = answer;
  }
  return { relations, required: needed.required };
}

export function draftFact(draft: DraftRelations, fact: Fact<RelationshipFact>): Fact<RelationshipFact> {
  if (draft === null) return { state: 'not_applicable' };
  return fact.state === 'known' ? { state: 'known', value: { ...fact.value, ...draft } } : fact;
}

function textOf(question: RelationQuestion | null): string {
  return question === null ? '' : `${question.object}#${question.relation}@${question.subject}`;
}
