import { AppError, type Digest } from '@countersign/contracts';
import type { NeededRelations, RelationQuestion } from '@countersign/policy';
import { nodeOf, RelationGraph, type LoadedTuples, type Node } from './relation-graph.ts';
import type { RelationHead } from './relation-heads.ts';

/** The answers about relations that a decision used, and their snapshot. */
export type HeldRelations =
  | { readonly kind: 'not_asked' }
  | { readonly kind: 'unavailable' }
  | {
      readonly kind: 'read';
      /** Null: the tenant has no snapshot. */
      readonly hash: Digest | null;
      /** The answers by the names of the bundle. An unknown answer is absent. */
      readonly relations: Readonly<Record<string, boolean>>;
      readonly required: readonly string[];
    };

export const notAsked: HeldRelations = { kind: 'not_asked' };

/** The relations as rules see them. */
export function relationsOf(held: HeldRelations): Readonly<Record<string, boolean>> {
  return held.kind === 'read' ? held.relations : {};
}

export type RelationSource = {
  /** Under the snapshot that was seen last; the commit holds it against the one that stands. Never rejects. */
  held(tenant: string, needed: NeededRelations): Promise<HeldRelations>;
  reload(tenant: string): Promise<void>;
};

export type Sought = { readonly nodes: readonly Node[]; readonly subjects: readonly string[] };

type Parts = {
  findHead(tenant: string): Promise<RelationHead | null>;
  loadTuples(tenant: string, sought: Sought): Promise<LoadedTuples>;
};

/** A forgotten answer comes back with one read. */
const answersMax = 100_000;
const headsMax = 10_000;
/** A tenant whose relations change more often within one question is written to faster than it can be read. */
const readsMax = 5;

/** Answers of one snapshot stay true of it, so they are kept by its hash. */
export class Relations implements RelationSource {
  readonly #parts: Parts;
  readonly #heads = new Map<string, RelationHead | null>();
  readonly #answers = new Map<string, boolean | null>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async held(tenant: string, needed: NeededRelations): Promise<HeldRelations> {
    try {
      return this.#remembered(tenant, needed) ?? (await this.#read(tenant, needed));
    } catch {
      return { kind: 'unavailable' }; // it denies; the next decision asks again
    }
  }

  async reload(tenant: string): Promise<void> {
    this.#learn(tenant, await this.#parts.findHead(tenant));
  }

  /** All that `work` reads is of one snapshot, the one that stands. Throws STORE_UNAVAILABLE where it never stays long enough. */
  async atOneSnapshot<Result>(tenant: string, work: (head: RelationHead | null) => Promise<Result>): Promise<Result> {
    let head = await this.#parts.findHead(tenant);
    for (let reads = 0; reads < readsMax; reads += 1) {
      const result = await work(head);
      const after = await this.#parts.findHead(tenant);
      if (hashOf(after) === hashOf(head)) return result;
      head = after;
    }
    throw new AppError('STORE_UNAVAILABLE', 'The relations keep changing', { headers: { 'retry-after': '1' } });
  }

  /** For questions that all belong to one snapshot. */
  async load(tenant: string, questions: readonly RelationQuestion[]): Promise<RelationGraph> {
    const nodes = [...new Set(questions.map(nodeOf))];
    const subjects = [...new Set(questions.map(({ subject }) => subject))];
    return new RelationGraph(await this.#parts.loadTuples(tenant, { nodes, subjects }));
  }

  #remembered(tenant: string, { questions, required }: NeededRelations): HeldRelations | null {
    const head = this.#heads.get(tenant);
    if (head === undefined) return null;
    const relations: Record<string, boolean> = {};
    for (const [name, question] of questions) {
      const answer = question === null || head === null ? null : this.#answers.get(keyOf(head, question));
      if (answer === undefined) return null;
      if (answer !== null) relations[name] = answer;
    }
    return { kind: 'read', hash: hashOf(head), relations, required };
  }

  async #read(tenant: string, needed: NeededRelations): Promise<HeldRelations> {
    const questions = [...needed.questions.values()].filter((question) => question !== null);
    await this.atOneSnapshot(tenant, async (head) => {
      this.#learn(tenant, head);
      if (head === null || questions.length === 0) return;
      const graph = await this.load(tenant, questions);
      if (this.#answers.size > answersMax) this.#answers.clear();
      for (const question of questions) {
        const { path, isCut } = graph.find(question);
        this.#answers.set(keyOf(head, question), path !== null || (isCut ? null : false));
      }
    });
    return this.#remembered(tenant, needed) ?? { kind: 'unavailable' };
  }

  #learn(tenant: string, head: RelationHead | null): void {
    if (this.#heads.size >= headsMax) this.#heads.clear();
    this.#heads.set(tenant, head);
  }
}

function hashOf(head: RelationHead | null): Digest | null {
  return head?.hash ?? null;
}

function keyOf({ tenant, hash }: RelationHead, { object, relation, subject }: RelationQuestion): string {
  return `${tenant}\n${hash}\n${object}#${relation}@${subject}`;
}
