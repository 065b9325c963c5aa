import { AppError, isList } from '@countersign/contracts';
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

/** The judge of the calls in an answer, and the number of choices (`n`) that the caller requested. */
export type AnswerTerms = { judge: JudgeCalls; choicesMax: number };

const answerDepthMax = 64;

/** Throws UPSTREAM_FAILED for an answer that is not a chat completion or exceeds a limit. */
export async function readAnswer(bytes: Buffer, choicesMax: number): Promise<ReadAnswer> {
  const answer = parseAnswer(bytes);
  const choices = await readChoices(choicesOf(answer, choicesMax));
  const isSaid = choices.some((choice) => choice.isSaid);
  return { answer, choices, usage: usageOf(answer['usage'], { isSaid }) };
}

/**
 * A whole answer with a decision on every call in it. All are decided at once, and their receipts are in the order of
 * the answer. Throws the errors of `judge`.
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
    const message = 'The answer of the model server has too many values to be read as a whole. Request it as a stream';
    throw new AppError('UPSTREAM_FAILED', message, { cause });
  }
}

export function malformedAnswer(cause?: unknown): AppError {
  return new AppError('UPSTREAM_FAILED', 'The answer of the model server is not a chat completion', {
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

/** The calls of a message. Each is read when the generator reaches it. */
export function* proposedCalls(message: JsonObject): Generator<ProposedCall> {
  const { tool_calls: toolCalls, function_call: functionCall } = message;
  if (isPresent(toolCalls) && !Array.isArray(toolCalls)) throw malformedAnswer();
  for (const toolCall of isList(toolCalls) ? toolCalls : []) yield proposedToolCall(toolCall);
  if (isPresent(functionCall)) yield proposedFunctionCall(functionCall);
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

type Passed = { message: JsonObject };

/**
 * Reports withheld calls in `content`, which agents and people read. Clients may ignore our own member `countersign`.
 */
export function withRelease({ message }: Passed, { allowed, withheld, summary }: Release): JsonObject {
  const judged = { ...message, countersign: summary, ...releasedMembers(allowed) };
  if (withheld === null) return { message: judged };
  const shown = { ...judged, content: contentWith(message['content'], withheld) };
  // Token probabilities would reveal the withheld call.
  const tokens = { logprobs: null };
  if (allowed.length > 0) return { ...tokens, message: shown };
  return { ...tokens, message: { ...shown, refusal: withheld }, finish_reason: withheldFinish };
}

/**
 * The finish reason of an answer whose calls are all withheld. The answer is then plain text, with which the loop of an
 * agent continues.
 */
export const withheldFinish = 'stop';

function contentWith(content: unknown, withheld: string): unknown {
  if (isList(content)) return [...content, { type: 'text', text: withheld }];
  return typeof content === 'string' && content !== '' ? `${content}\n\n${withheld}` : withheld;
}

/** The legacy form has no `type`. A message contains at most one such call. */
function releasedMembers(allowed: readonly JsonObject[]): JsonObject {
  const toolCalls = allowed.filter((call) => 'type' in call);
  const legacy = allowed.find((call) => !('type' in call));
  return { ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}), ...(legacy ? { function_call: legacy } : {}) };
}
