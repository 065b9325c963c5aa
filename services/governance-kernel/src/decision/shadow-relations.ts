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
import type { HeldRelations } from '../controls/relations/relation-source.ts';

/** The relation queries of the active policy, with their answers. */
export type AskedRelations = { readonly needed: NeededRelations | null; readonly relations: HeldRelations };

/** The relations that a draft reads; `null` when it reads none. */
export type DraftRelations = Pick<RelationshipFact, 'relations' | 'required'> | null;

/**
 * Gives a draft the answers of the decision under the draft's own names. `not_asked` when the draft needs an answer
 * that the decision did not read. It is not read now, since no draft delays a decision.
 */
export function draftRelations(
  policy: CompiledPolicy,
  intent: Intent,
  { needed: input, relations: snapshot, work }: AskedRelations & { readonly work?: Work },
): DraftRelations | 'not_asked' {
  const needed = neededRelations(policy, intent, work);
  if (needed === null) return null;
  if (input === null) return 'not_asked';
  const existing = new Map([...input.questions].map(([name, question]) => [textOf(question), name]));
  const relations: Record<string, boolean> = {};
  for (const [name, question] of needed.questions) {
    if (question === null) continue;
    const askedAs = existing.get(textOf(question));
    if (askedAs === undefined) return 'not_asked';
    const answer = snapshot.kind === 'read' ? snapshot.relations[askedAs] : undefined;
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
