import { AppError } from '@countersign/contracts';
import { CryptoError, parseStrictJson } from '@countersign/crypto';
import type { JudgeCalls } from './judge-calls.ts';
import {
  isJsonObject,
  isSaying,
  passiveChoice,
  passiveEnvelope,
  passiveMessage,
  type JsonObject,
} from './passive-members.ts';
import { proposedFunctionCall, proposedToolCall, type ProposedCall } from './proposed-call.ts';
import { answerValuesMax, ArgumentsRoom, readCalls } from './read-calls.ts';
import { releaseCalls, type DecisionSummary, type Release } from './release-calls.ts';
import { usageOf } from './usage.ts';
import type { Usage } from './prices.ts';

type GovernedAnswer = { text: string; decisions: DecisionSummary[] };

/** The answer of a model, before its calls are judged. */
type ReadAnswer = { answer: JsonObject; choices: ReadChoice[]; usage: Usage | null };

/** Who judges the calls of an answer, and how many choices (`n`) its caller has asked for. */
export type AnswerTerms = { judge: JudgeCalls; choicesMax: number };

const answerDepthMax = 64;

/** Throws UPSTREAM_FAILED for what is no chat completion. */
export async function readAnswer(bytes: Buffer, choicesMax: number): Promise<ReadAnswer> {
  const answer = parseAnswer(bytes);
  const choices = await readChoices(choicesOf(answer, choicesMax));
  const isSaid = choices.some((choice) => choice.isSaid);
  return { answer, choices, usage: usageOf(answer['usage'], { isSaid }) };
}

/**
 * A whole answer with every call in it decided, all at once: their receipts stand in the chain in the order of the answer. Throws what
 * `judge` throws.
 */
export async function governAnswer({ answer, choices }: ReadAnswer, judge: JudgeCalls): Promise<GovernedAnswer> {
  const proposed = choices.flatMap((choice) => choice.proposed);
  const judged = proposed.length === 0 ? [] : await judge(proposed);
  const decisions: DecisionSummary[] = [];
  const governed = choices.map((choice) => {
    if (choice.proposed.length === 0) return choice.passed;
    const release = releaseCalls(judged.slice(decisions.length, decisions.length + choice.proposed.length));
    decisions.push(...release.summary.decisions);
    return { ...choice.passed, ...withRelease(choice.passed, release) };
  });
  return { text: JSON.stringify({ ...passiveEnvelope(answer), choices: governed }), decisions };
}

function parseAnswer(bytes: Buffer): JsonObject {
  const answer = strict(bytes);
  if (!isJsonObject(answer)) throw malformedAnswer();
  return answer;
}

function strict(bytes: Buffer): unknown {
  try {
    return parseStrictJson(bytes, {
      depthMax: answerDepthMax,
      bytesMax: bytes.byteLength,
      valuesMax: answerValuesMax,
    });
  } catch (cause) {
    if (!(cause instanceof CryptoError) || cause.code !== 'TOO_MANY_VALUES') throw malformedAnswer(cause);
    const message =
      'The answer of the model server holds too much to be read whole; it has to be asked for as a stream';
    throw new AppError('UPSTREAM_FAILED', message, { cause });
  }
}

export function malformedAnswer(cause?: unknown): AppError {
  return new AppError('UPSTREAM_FAILED', 'The model server answered with something that is not a chat completion', {
    cause,
  });
}

function choicesOf({ choices }: JsonObject, choicesMax: number): JsonObject[] {
  if (!Array.isArray(choices) || choices.length > choicesMax || !choices.every(isJsonObject)) throw malformedAnswer();
  return choices;
}

type ReadChoice = { passed: Passed; proposed: ProposedCall[]; isSaid: boolean };

async function readChoices(choices: readonly JsonObject[]): Promise<ReadChoice[]> {
  const room = new ArgumentsRoom();
  const read: ReadChoice[] = [];
  for (const choice of choices) {
    const { message } = choice;
    if (!isJsonObject(message)) throw malformedAnswer();
    read.push({
      passed: { ...passiveChoice(choice), message: passiveMessage(message) },
      proposed: await readCalls(proposedCalls(message), room),
      isSaid: isSaying(message),
    });
  }
  return read;
}

/** Each is read when it is asked for. */
export function* proposedCalls(message: JsonObject): Generator<ProposedCall> {
  const { tool_calls: toolCalls, function_call: functionCall } = message;
  if (isPresent(toolCalls) && !Array.isArray(toolCalls)) throw malformedAnswer();
  for (const toolCall of Array.isArray(toolCalls) ? (toolCalls as unknown[]) : []) yield proposedToolCall(toolCall); // narrowed by isArray
  if (isPresent(functionCall)) yield proposedFunctionCall(functionCall);
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

type Passed = { message: JsonObject };

/** Withheld calls are reported in `content`, which agents and people read; other clients ignore our own member. */
export function withRelease({ message }: Passed, { allowed, withheld, summary }: Release): JsonObject {
  const judged = { ...message, countersign: summary, ...releasedMembers(allowed) };
  if (withheld === null) return { message: judged };
  const told = { ...judged, content: contentWith(message['content'], withheld) };
  // The tokens of a withheld call are not shown by the back door.
  const tokens = { logprobs: null };
  if (allowed.length > 0) return { ...tokens, message: told };
  return { ...tokens, message: { ...told, refusal: withheld }, finish_reason: withheldFinish };
}

/** Where no call is left the answer is text like any other, so that the loop of an agent goes on with it. */
export const withheldFinish = 'stop';

function contentWith(content: unknown, withheld: string): unknown {
  if (Array.isArray(content)) return [...(content as unknown[]), { type: 'text', text: withheld }]; // narrowed by isArray
  return typeof content === 'string' && content !== '' ? `${content}\n\n${withheld}` : withheld;
}

/** The legacy spelling has no `type`; a message holds one such call at most. */
function releasedMembers(allowed: readonly JsonObject[]): JsonObject {
  const toolCalls = allowed.filter((call) => 'type' in call);
  const legacy = allowed.find((call) => !('type' in call));
  return { ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}), ...(legacy ? { function_call: legacy } : {}) };
}
