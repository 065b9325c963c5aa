import { parseStrictJson } from '@countersign/crypto';
import { FragmentBuffer } from './fragments.ts';
import { malformedAnswer, withheldFinish, type AnswerTerms } from './govern-answer.ts';
import {
  isJsonObject,
  isSaying,
  passiveChoice,
  passiveEnvelope,
  passiveMessage,
  type JsonObject,
} from './passive-members.ts';
import type { Usage } from './prices.ts';
import { answerValuesMax, ArgumentsRoom, readCalls } from './read-calls.ts';
import { releaseCalls, type DecisionSummary, type Release } from './release-calls.ts';
import { UpstreamSaid } from './upstream-error.ts';
import { usageOf } from './usage.ts';

type Choice = { calls: FragmentBuffer; hasText: boolean; isSaid: boolean; finish: unknown };

const chunkDepthMax = 64;
/** One event; the buffer of the event-stream parser is bounded by it as well. */
export const chunkBytesMax = 1_048_576;

/** The state of one streamed answer: chunks go in, governed chunks come out. */
export class GovernedStream {
  readonly #terms: AnswerTerms;
  readonly #choices = new Map<number, Choice>();
  readonly #room = new ArgumentsRoom();
  readonly decisions: DecisionSummary[] = [];
  #usage: unknown = null;

  constructor(terms: AnswerTerms) {
    this.#terms = terms;
  }

  /**
   * The caller's view of one upstream chunk: nothing, the chunk without its calls, or the calls that were decided.
   * Throws UPSTREAM_FAILED, or the upstream's error. Throws UPSTREAM_FAILED, or what the upstream says is wrong.
   */
  async chunk(data: string): Promise<JsonObject[]> {
    const chunk = parseChunk(data);
    if (isJsonObject(chunk['error'])) throw new UpstreamSaid(chunk['error']);
    const { choices } = chunk;
    if (!Array.isArray(choices) || choices.length > this.#terms.choicesMax) throw malformedAnswer();
    // Usage that was reported before more content is incomplete.
    if (usageOf(chunk['usage'], { isSaid: false }) !== null) this.#usage = chunk['usage'];
    else if (choices.length > 0) this.#usage = null;
    const envelope = passiveEnvelope(chunk);
    // The chunk of include_usage has no choices.
    if (choices.length === 0) return [{ ...envelope, choices }];
    const passed: JsonObject[] = [];
    for (const choice of choices) passed.push(...(await this.#choice(choice)));
    return passed.map((choice) => ({ ...envelope, choices: [choice] }));
  }

  /**
   * The usage of the answer; `null` while more may come that was not counted yet. A caller that hangs up then pays as
   * if no usage had been reported.
   */
  usage({ isDone }: { isDone: boolean }): Usage | null {
    const finished = [...this.#choices.values()].filter(({ finish }) => finish !== null);
    const isSaid = [...this.#choices.values()].some((choice) => choice.isSaid);
    return isDone || finished.length === this.#terms.choicesMax ? usageOf(this.#usage, { isSaid }) : null;
  }

  /** Throws UPSTREAM_FAILED when the upstream says it is done while a call is still open. */
  assertFinished(): void {
    const open = [...this.#choices.values()].some(({ finish, calls }) => finish === null && !calls.isEmpty);
    if (open) throw malformedAnswer(new Error('A tool call was never finished'));
  }

  async #choice(value: unknown): Promise<JsonObject[]> {
    if (!isJsonObject(value)) throw malformedAnswer();
    const delta = value['delta'] ?? {};
    const choice = this.#known(value['index']);
    if (!isJsonObject(delta)) throw malformedAnswer();
    const finish = finishOf(value);
    if (choice.finish !== null) return [afterword(choice, { value, delta, finish })];
    choice.calls.add(delta);
    const message = passiveMessage(delta);
    choice.isSaid ||= isSaying(delta);
    choice.hasText ||= typeof message['content'] === 'string' && message['content'] !== '';
    const passed = { ...shownMembers(value, choice.calls), delta: message };
    if (finish !== null) {
      choice.finish = finish;
      return await this.#finish(choice, passed);
    }
    return Object.keys(message).length === 0 ? [] : [passed];
  }

  #known(index: unknown): Choice {
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= this.#terms.choicesMax)
      throw malformedAnswer();
    const choice = this.#choices.get(index) ?? newChoice();
    this.#choices.set(index, choice);
    return choice;
  }

  async #finish(choice: Choice, passed: { delta: JsonObject } & JsonObject): Promise<JsonObject[]> {
    if (choice.calls.isEmpty) return [passed];
    const release = releaseCalls(await this.#terms.judge(await readCalls(choice.calls.take(), this.#room)));
    this.decisions.push(...release.summary.decisions);
    const { finish_reason: finish, ...common } = passed;
    const released = {
      ...common,
      delta: { ...passed.delta, ...releasedDelta(release, choice.hasText) },
      finish_reason: null,
    };
    return [
      released,
      { index: passed['index'], delta: {}, finish_reason: isEmptied(release) ? withheldFinish : finish },
    ];
  }
}

function newChoice(): Choice {
  return { calls: new FragmentBuffer(), hasText: false, isSaid: false, finish: null };
}

/** Some servers write an empty word while a choice goes on. */
function finishOf({ finish_reason: finish = null }: JsonObject): unknown {
  return finish === '' ? null : finish;
}

/** OpenRouter names a choice once more after its end, to say beside it what was used. Throws UPSTREAM_FAILED where it says more. */
function afterword(choice: Choice, said: { value: JsonObject; delta: JsonObject; finish: unknown }): JsonObject {
  const { value, delta, finish } = said;
  if (isSaying(delta) || (finish !== null && finish !== choice.finish)) throw malformedAnswer();
  return { ...shownMembers(value, choice.calls), delta: passiveMessage(delta), finish_reason: null };
}

/** From the first fragment of a call on, the tokens are not shown: they spell a call that may be withheld, and that is decided last. */
function shownMembers(choice: JsonObject, calls: FragmentBuffer): JsonObject {
  const shown = passiveChoice(choice);
  if ('finish_reason' in shown) shown['finish_reason'] = finishOf(choice);
  return calls.isEmpty || !('logprobs' in shown) ? shown : { ...shown, logprobs: null };
}

function isEmptied({ allowed, withheld }: Release): boolean {
  return withheld !== null && allowed.length === 0;
}

/** Whole calls in one fragment, numbered from 0 without a gap; and what was withheld, as text after the text that was shown. */
function releasedDelta(release: Release, hasText: boolean): JsonObject {
  const { allowed, withheld, summary } = release;
  const told = withheld === null ? {} : { content: hasText ? `\n\n${withheld}` : withheld };
  const toolCalls = allowed.filter((call) => 'type' in call).map((call, index) => ({ index, ...call }));
  const legacy = allowed.find((call) => !('type' in call));
  return {
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
    ...(legacy ? { function_call: legacy } : {}),
    ...told,
    ...(isEmptied(release) ? { refusal: withheld } : {}),
    countersign: summary,
  };
}

function parseChunk(data: string): JsonObject {
  try {
    const chunk = parseStrictJson(data, {
      depthMax: chunkDepthMax,
      bytesMax: chunkBytesMax,
      valuesMax: answerValuesMax,
    });
    if (isJsonObject(chunk)) return chunk;
  } catch (cause) {
    throw malformedAnswer(cause);
  }
  throw malformedAnswer();
}
