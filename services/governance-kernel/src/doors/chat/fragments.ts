import { callsPerAnswerMax } from '@countersign/contracts/governance-kernel';
import { malformedAnswer } from './govern-answer.ts';
import { isJsonObject, type JsonObject } from './passive-members.ts';
import { argumentsBytesMax, proposedFunctionCall, proposedToolCall, type ProposedCall } from './proposed-call.ts';

type Assembled = { id: unknown; type: unknown; name: string; text: string; member: 'function' | 'custom' };

/**
 * Assembles the calls of one choice from their fragments. Throws UPSTREAM_FAILED for a malformed fragment and above the
 * limits.
 */
export class FragmentBuffer {
  readonly #calls = new Map<number, Assembled>();
  #legacy: Assembled | null = null;
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#calls.size === 0 && this.#legacy === null;
  }

  /** Adds the call fragments of a delta. */
  add(delta: JsonObject): void {
    const { tool_calls: toolCalls, function_call: functionCall } = delta;
    if (toolCalls !== undefined && toolCalls !== null) this.#addToolCalls(toolCalls);
    if (functionCall !== undefined && functionCall !== null) this.#addLegacy(functionCall);
  }

  /**
   * The calls in the order of their index, and last the legacy call. Incomplete arguments of a function do not parse,
   * so that call is denied. Each call is parsed when the generator reaches it.
   */
  *take(): Generator<ProposedCall> {
    const ordered = [...this.#calls].sort(([left], [right]) => left - right).map(([, call]) => call);
    const legacy = this.#legacy;
    for (const call of ordered) yield proposedToolCall(whole(call));
    if (legacy !== null) yield proposedFunctionCall({ name: legacy.name, arguments: legacy.text });
  }

  #addToolCalls(fragments: unknown): void {
    if (!Array.isArray(fragments)) throw malformedAnswer();
    for (const fragment of fragments) this.#addFragment(fragment);
  }

  #addFragment(fragment: unknown): void {
    if (!isJsonObject(fragment)) throw malformedAnswer();
    const index = fragment['index'] ?? 0;
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= callsPerAnswerMax)
      throw malformedAnswer();
    const call = this.#calls.get(index) ?? newCall();
    this.#calls.set(index, call);
    call.id = settled(call.id, fragment['id']);
    call.type = settled(call.type, fragment['type']);
    if (fragment['custom'] !== undefined) call.member = 'custom';
    const called = fragment['custom'] ?? fragment['function'];
    if (called !== undefined && called !== null) this.#extend(call, called);
  }

  #addLegacy(fragment: unknown): void {
    this.#legacy ??= newCall();
    this.#extend(this.#legacy, fragment);
  }

  #extend(call: Assembled, called: unknown): void {
    if (!isJsonObject(called)) throw malformedAnswer();
    const name = stringOr(called['name']);
    const text = stringOr(called['arguments'] ?? called['input']);
    this.#bytes += Buffer.byteLength(name) + Buffer.byteLength(text);
    if (this.#bytes > argumentsBytesMax) throw malformedAnswer();
    call.name += name;
    call.text += text;
  }
}

function newCall(): Assembled {
  return { id: undefined, type: undefined, name: '', text: '', member: 'function' };
}

/**
 * The id and the type of a call are sent once. A different value in a later fragment could make two clients read
 * different calls.
 */
function settled(before: unknown, next: unknown): unknown {
  if (next === undefined || next === null || next === '') return before;
  if (before !== undefined && before !== next) throw malformedAnswer();
  return next;
}

function stringOr(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw malformedAnswer();
  return value;
}

function whole({ id, type, name, text, member }: Assembled): JsonObject {
  const called = member === 'custom' ? { name, input: text } : { name, arguments: text };
  return { id, type: type ?? member, [member]: called };
}
