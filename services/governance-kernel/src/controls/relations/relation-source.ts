import { AppError, type Digest } from '@countersign/contracts';
import type { NeededRelations, RelationQuestion } from '@countersign/policy';
import { nodeOf, RelationGraph, type LoadedTuples, type Node } from './relation-graph.ts';
import type { RelationHead } from './relation-heads.ts';

/** The relation answers that a decision used, and their snapshot. */
export type HeldRelations =
  | { readonly kind: 'not_asked' }
  | { readonly kind: 'unavailable' }
  | {
      readonly kind: 'read';
      /** `null` when the tenant has no snapshot. */
      readonly hash: Digest | null;
      /** The answers by the names of the bundle. An unknown answer is absent. */
      readonly relations: Readonly<Record<string, boolean>>;
      readonly required: readonly string[];
    };

export const notAsked: HeldRelations = { kind: 'not_asked' };

/** The relation answers for rules. Empty when none were read. */
export function relationsOf(snapshot: HeldRelations): Readonly<Record<string, boolean>> {
  return snapshot.kind === 'read' ? snapshot.relations : {};
}

export type RelationSource = {
  /** Reads the last known snapshot. The commit compares it with the current one. Never rejects. */
  snapshot(tenant: string, needed: NeededRelations): Promise<HeldRelations>;
  reload(tenant: string): Promise<void>;
};

export type Sought = { readonly nodes: readonly Node[]; readonly subjects: readonly string[] };

type Deps = {
  findHead(tenant: string): Promise<RelationHead | null>;
  loadTuples(tenant: string, sought: Sought): Promise<LoadedTuples>;
};

/** The limits of the two caches. An evicted answer costs one more read. */
const answersMax = 100_000;
const headsMax = 10_000;
/** The limit of reads per query. Each change of the relations during a query makes another read necessary. */
const readsMax = 5;

/** Answers of a snapshot never change, so they are cached by its hash. */
export class Relations implements RelationSource {
  readonly #deps: Deps;
  readonly #heads = new Map<string, RelationHead | null>();
  readonly #answers = new Map<string, boolean | null>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async snapshot(tenant: string, needed: NeededRelations): Promise<HeldRelations> {
    try {
      return this.#remembered(tenant, needed) ?? (await this.#read(tenant, needed));
    } catch {
      return { kind: 'unavailable' }; // this decision denies, and the next one reads again
    }
  }

  async reload(tenant: string): Promise<void> {
    this.#learn(tenant, await this.#deps.findHead(tenant));
  }

  /** Runs `work` on the current snapshot only. Throws STORE_UNAVAILABLE when it changes too often. */
  async atOneSnapshot<Result>(tenant: string, work: (head: RelationHead | null) => Promise<Result>): Promise<Result> {
    let head = await this.#deps.findHead(tenant);
    for (let reads = 0; reads < readsMax; reads += 1) {
      const result = await work(head);
      const after = await this.#deps.findHead(tenant);
      if (hashOf(after) === hashOf(head)) return result;
      head = after;
    }
    throw new AppError('STORE_UNAVAILABLE', 'The relations changed too often during the request. Try again', {
      headers: { 'retry-after': '1' },
    });
  }

  /** Loads tuples for queries on one snapshot. */
  async load(tenant: string, questions: readonly RelationQuestion[]): Promise<RelationGraph> {
    const nodes = [...new Set(questions.map(nodeOf))];
    const subjects = [...new Set(questions.map(({ subject }) => subject))];
    return new RelationGraph(await this.#deps.loadTuples(tenant, { nodes, subjects }));
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
