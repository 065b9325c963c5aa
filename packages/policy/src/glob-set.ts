import { globStepsMax, isLiteralGlob, matchesGlob } from './glob.ts';
import { SegmentSearch, type Sought, type Waiting } from './segment-search.ts';
import type { Work } from './work.ts';

/**
 * A pattern of the form `head*…*tail`. A pattern without a star consists only of a head. Heads and tails may contain
 * `?`, and segments may not.
 */
type Pattern = Sought & { readonly head: string; readonly tail: string; readonly hasStar: boolean };

/**
 * Many patterns combined in one automaton. One pass over a text finds all patterns that match it, however many there
 * are. Patterns are looked up by their first letters. The segments between stars are searched together for all
 * patterns. A pattern that contains both a segment and a `?` is matched separately.
 */
export class GlobSet {
  readonly #literals = new Set<string>();
  /** Patterns by the letters before the first `*` or `?`. */
  readonly #byStart = new Map<string, Pattern[]>();
  readonly #wild: string[] = [];
  #search: SegmentSearch | null = null;
  #startLengths: readonly number[] = [];
  #segmentsSize = 0;

  private constructor() {}

  static *inSteps(globs: Iterable<string>): Generator<void, GlobSet> {
    const set = new GlobSet();
    for (const glob of new Set(globs)) {
      set.#add(glob);
      yield;
    }
    set.#startLengths = [...new Set([...set.#byStart.keys()].map(({ length }) => length))].sort((a, b) => a - b);
    const segments = new Set([...set.#byStart.values()].flat().flatMap((pattern) => pattern.segments));
    if (segments.size > 0) set.#search = yield* SegmentSearch.inSteps(segments);
    return set;
  }

  /** The number of characters between stars in all patterns. Each character takes up to half a kilobyte of memory. */
  get segmentsSize(): number {
    return this.#segmentsSize;
  }

  /** The patterns that match. Some may be missing when the work is used up, so the caller must check `work.isSpent`. */
  matching(text: string, work: Work): ReadonlySet<string> {
    const found = new Set<string>();
    if (!work.takeSteps(text.length)) return found;
    if (this.#literals.has(text)) found.add(text);
    const waiting: Waiting[] = [];
    for (const pattern of this.#begun(text, work)) {
      if (!work.takeSteps(1) || !hasEnds(pattern, text, work)) continue;
      if (pattern.segments.length === 0) found.add(pattern.glob);
      else waiting.push({ sought: pattern, from: pattern.head.length });
    }
    for (const glob of this.#search?.found(text, waiting, work) ?? []) found.add(glob);
    for (const glob of this.#wild) if (matchesGlob(glob, text, work)) found.add(glob);
    return found;
  }

  /** The maximum number of steps of {@link matching} for a text of this length. */
  stepsMax(textLength: number): number {
    const patterns = [...this.#byStart.values()].flat();
    const starts = this.#startLengths.reduce((sum, length) => sum + length, 0);
    const ends = patterns.reduce(
      (sum, { head, tail, segments }) => sum + 2 + head.length + tail.length + segments.length,
      0,
    );
    const searched = this.#search === null ? 0 : textLength * (2 + this.#search.chainMax);
    const wild = this.#wild.reduce((sum, glob) => sum + globStepsMax(glob, textLength), 0);
    return textLength + starts + ends + searched + wild;
  }

  #add(glob: string): void {
    if (isLiteralGlob(glob)) {
      this.#literals.add(glob);
      return;
    }
    const [head = '', ...deps] = glob.split('*');
    const tail = deps.pop() ?? '';
    const segments = deps.filter((literals) => literals !== '');
    if (segments.length > 0 && glob.includes('?')) {
      this.#wild.push(glob);
      return;
    }
    this.#segmentsSize += segments.reduce((sum, { length }) => sum + length, 0);
    const start = /^[^?]*/.exec(head)?.[0] ?? '';
    const pattern = { glob, head, tail, hasStar: glob.includes('*'), segments, tailLength: tail.length };
    const entry = this.#byStart.get(start);
    if (entry === undefined) this.#byStart.set(start, [pattern]);
    else entry.push(pattern);
  }

  /** The patterns whose letters before the first `*` or `?` match the start of the text, shortest first. */
  *#begun(text: string, work: Work): Generator<Pattern> {
    for (const length of this.#startLengths) {
      if (length > text.length || !work.takeSteps(length)) return;
      yield* this.#byStart.get(text.slice(0, length)) ?? [];
    }
  }
}

function hasEnds({ head, tail, hasStar }: Pattern, text: string, work: Work): boolean {
  const rest = text.length - head.length - tail.length;
  if (rest < 0 || (!hasStar && rest > 0)) return false;
  return isAt(head, text, 0, work) && isAt(tail, text, text.length - tail.length, work);
}

function isAt(literal: string, text: string, from: number, work: Work): boolean {
  for (let at = 0; at < literal.length; at += 1) {
    if (!work.takeSteps(1)) return false;
    if (literal[at] !== '?' && literal[at] !== text[from + at]) return false;
  }
  return true;
}
