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
import { UpstreamFailure } from './upstream-error.ts';
import { usageOf } from './usage.ts';

type Choice = { calls: FragmentBuffer; hasText: boolean; isSaid: boolean; finish: unknown };

const chunkDepthMax = 64;
/** The limit for one event, which also bounds the buffer of the event-stream parser. */
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
   * The caller's view of one upstream chunk: nothing, the chunk without its calls, or the decided calls. Throws
   * UPSTREAM_FAILED, the upstream's error, and the errors of `judge`.
   */
  async chunk(data: string): Promise<JsonObject[]> {
    const chunk = parseChunk(data);
    if (isJsonObject(chunk['error'])) throw new UpstreamFailure(chunk['error']);
    const { choices } = chunk;
    if (!Array.isArray(choices) || choices.length > this.#terms.choicesMax) throw malformedAnswer();
    // Reported usage is incomplete if more content follows it.
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
   * The usage of the answer. `null` when none was reported, and while uncounted usage may follow. If the caller
   * disconnects during that time, the call costs its reservation.
   */
  usage({ isDone }: { isDone: boolean }): Usage | null {
    const finished = [...this.#choices.values()].filter(({ finish }) => finish !== null);
    const isSaid = [...this.#choices.values()].some((choice) => choice.isSaid);
    return isDone || finished.length === this.#terms.choicesMax ? usageOf(this.#usage, { isSaid }) : null;
  }

  /** Throws UPSTREAM_FAILED when the upstream ends while a call is incomplete. */
  assertFinished(): void {
    const open = [...this.#choices.values()].some(({ finish, calls }) => finish === null && !calls.isEmpty);
    if (open) throw malformedAnswer(new Error('A tool call was never finished'));
  }

  async #choice(value: unknown): Promise<JsonObject[]> {
    if (!isJsonObject(value)) throw malformedAnswer();
    const delta = value['delta'] ?? {};
    const choice = this.#choiceAt(value['index']);
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

  #choiceAt(index: unknown): Choice {
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

/** Some servers send an empty finish reason while a choice continues. */
function finishOf({ finish_reason: finish = null }: JsonObject): unknown {
  return finish === '' ? null : finish;
}

/**
 * OpenRouter repeats a choice after its end to report its usage. Throws UPSTREAM_FAILED when the repetition contains
 * content or a different reason for the end.
 */
function afterword(choice: Choice, sent: { value: JsonObject; delta: JsonObject; finish: unknown }): JsonObject {
  const { value, delta, finish } = sent;
  if (isSaying(delta) || (finish !== null && finish !== choice.finish)) throw malformedAnswer();
  return { ...shownMembers(value, choice.calls), delta: passiveMessage(delta), finish_reason: null };
}

/**
 * From the first fragment of a call on, `logprobs` is `null`. The tokens would reveal the call, which is decided only
 * at the end of the choice and may be withheld.
 */
function shownMembers(choice: JsonObject, calls: FragmentBuffer): JsonObject {
  const shown = passiveChoice(choice);
  if ('finish_reason' in shown) shown['finish_reason'] = finishOf(choice);
  return calls.isEmpty || !('logprobs' in shown) ? shown : { ...shown, logprobs: null };
}

function isEmptied({ allowed, withheld }: Release): boolean {
  return withheld !== null && allowed.length === 0;
}

/**
 * Whole calls in one fragment, numbered from 0 without a gap. Withheld calls are reported as text after the released
 * text.
 */
function releasedDelta(release: Release, hasText: boolean): JsonObject {
  const { allowed, withheld, summary } = release;
  const delta = withheld === null ? {} : { content: hasText ? `\n\n${withheld}` : withheld };
  const toolCalls = allowed.filter((call) => 'type' in call).map((call, index) => ({ index, ...call }));
  const legacy = allowed.find((call) => !('type' in call));
  return {
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
    ...(legacy ? { function_call: legacy } : {}),
    ...delta,
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
