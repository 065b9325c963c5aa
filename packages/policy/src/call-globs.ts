import type { PolicyRule } from '@countersign/contracts/governance-kernel';
import { GlobSet } from './glob-set.ts';
import type { Intent } from './intent.ts';
import type { Work } from './work.ts';

export type CallMatch = PolicyRule['match'];

/** The members of a call that patterns match, with the maximum length of each. */
export const matchedLengths = { action: 128, tool: 256, resource: 2048, principal: 256 } as const;
type Member = keyof typeof matchedLengths;
const members = Object.keys(matchedLengths) as Member[]; // the keys of the literal above

const none: ReadonlySet<string> = new Set();

/** All patterns of a bundle, by member. */
export class CallGlobs {
  readonly sets: Readonly<Record<Member, GlobSet>>;

  private constructor(sets: Record<Member, GlobSet>) {
    this.sets = sets;
  }

  static *inSteps(matches: readonly CallMatch[]): Generator<void, CallGlobs> {
    const of = (member: Member) => GlobSet.inSteps(matches.flatMap((match) => match[member] ?? []));
    return new CallGlobs({
      action: yield* of('action'),
      tool: yield* of('tool'),
      resource: yield* of('resource'),
      principal: yield* of('principal'),
    });
  }

  /** The maximum number of steps of {@link MatchedCall} for one call. */
  get stepsMax(): number {
    return members.reduce((sum, member) => sum + this.sets[member].stepsMax(matchedLengths[member]), 0);
  }
}

/** One call, matched against all patterns of a bundle. Each member is read once, when a rule first needs it. */
export class MatchedCall {
  readonly #globs: CallGlobs;
  readonly #intent: Intent;
  readonly #work: Work;
  readonly #matching = new Map<Member, ReadonlySet<string>>();

  constructor(globs: CallGlobs, intent: Intent, work: Work) {
    this.#globs = globs;
    this.#intent = intent;
    this.#work = work;
  }

  /**
   * A rule that names tools does not cover a call without a tool: `tool: ['*']` means "any tool". The same applies to
   * resources.
   */
  isCoveredBy(match: CallMatch): boolean {
    return this.isCoveredBesideTool(match) && this.#covers('tool', match.tool);
  }

  isCoveredBesideTool({ action, resource, principal, effect_level: levels }: CallMatch): boolean {
    if (levels?.includes(this.#intent.effect_level) === false) return false;
    return this.#covers('action', action) && this.#covers('resource', resource) && this.#covers('principal', principal);
  }

  #covers(member: Member, globs: readonly string[] | undefined): boolean {
    if (globs === undefined) return true;
    const matching = this.#matchingOf(member);
    return globs.some((glob) => this.#work.takeSteps(1) && matching.has(glob));
  }

  #matchingOf(member: Member): ReadonlySet<string> {
    const cached = this.#matching.get(member);
    if (cached !== undefined) return cached;
    const text = this.#intent[member];
    const matching = text === null ? none : this.#globs.sets[member].matching(text, this.#work);
    this.#matching.set(member, matching);
    return matching;
  }
}
