import { SpendMicros } from '@countersign/contracts';
import { callsPerAnswerMax } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import { ToolCall, type ModelReply } from '../runs/conversation.ts';
import { functionNameOf } from '../runs/tool-names.ts';
import { KernelError } from './kernel-error.ts';
import { storable } from './storable.ts';

/** The kernel's decision about one call in the answer. The decisions have the order of the model's calls. */
const Decision = z.object({
  tool: z.string().min(1).max(256),
  tool_call_id: z.string().nullable(),
  verdict: z.string(),
  decision_id: z.string(),
  receipt_id: z.string(),
  arguments: z.string().optional(),
});

const ProposedCall = ToolCall.omit({ id: true, withheld: true }).extend({ id: z.string().nullish() });
type ProposedCall = z.infer<typeof ProposedCall> & Pick<ToolCall, 'withheld'>;

const Message = z.object({
  content: z.string().nullish(),
  tool_calls: z.array(ProposedCall).max(callsPerAnswerMax).nullish(),
  countersign: z.object({ decisions: z.array(Decision).max(callsPerAnswerMax) }).optional(),
});

/** More than the context of any model. The sum over the 100 iterations of the longest run still fits into a column. */
const tokensMax = 20_000_000;
const Tokens = z.int().min(0).max(tokensMax);

const Completion = z.object({
  choices: z.array(z.object({ message: Message })).min(1),
  // An impossible count is treated as missing. The kernel meters the cost of the call.
  usage: z.object({ prompt_tokens: Tokens, completion_tokens: Tokens }).nullish().catch(null),
});

/**
 * The first choice of an OpenAI completion. Attacker-controlled, so values that canonical JSON or a column cannot
 * contain are replaced.
 */
export function modelReplyOf(body: unknown, headers: Headers): ModelReply {
  const parsed = Completion.safeParse(body);
  const message = parsed.data?.choices[0]?.message;
  if (message === undefined)
    throw new KernelError('upstream', 'UPSTREAM_FAILED', 'The answer of the model contains no completion');
  const usage = parsed.data?.usage;
  return {
    message: { content: message.content ? storable(message.content) : null, tool_calls: callsOf(message) },
    usage: usage ? { input: usage.prompt_tokens, output: usage.completion_tokens } : null,
    spendMicros: SpendMicros.safeParse(headers.get('x-gov-spend-micros')).data ?? null,
  };
}

/** The released and the withheld calls in their original order. The run parks or ends at a withheld call. */
function callsOf(message: z.infer<typeof Message>): ToolCall[] {
  const released = message.tool_calls ?? [];
  const decisions = message.countersign?.decisions;
  return withIdsOfTheirOwn(decisions === undefined ? released : allCalls(released, decisions));
}

/** Paired by position, since the model chooses the ids. Two calls with one id must not count as one. */
function allCalls(released: ProposedCall[], decisions: z.infer<typeof Decision>[]): ProposedCall[] {
  const allowed = released.values();
  const calls = decisions.map((decision) =>
    decision.verdict === 'ALLOW' ? allowed.next().value : withheldCall(decision),
  );
  if (allowed.next().done !== true || !calls.every((call) => call !== undefined))
    throw new KernelError(
      'unreachable',
      'GOVERNANCE_MALFORMED',
      'The kernel did not release exactly the calls that it allowed',
    );
  return calls;
}

function withheldCall(decision: z.infer<typeof Decision>): ProposedCall {
  return {
    id: decision.tool_call_id,
    function: { name: functionNameOf(decision.tool), arguments: decision.arguments ?? '{}' },
    withheld: { decisionId: decision.decision_id, receiptId: decision.receipt_id },
  };
}

/** The model matches results by call id, so a missing or repeated id is replaced. */
function withIdsOfTheirOwn(calls: ProposedCall[]): ToolCall[] {
  const taken = new Set<string>();
  return calls.map(({ id, function: called, withheld }, index) => {
    const proposed = storable(id ?? '');
    const isOwn = ToolCall.shape.id.safeParse(proposed).success && !taken.has(proposed);
    const own = isOwn ? proposed : freeId(taken, index);
    taken.add(own);
    return {
      id: own,
      function: { name: storable(called.name), arguments: storable(called.arguments) },
      ...(withheld === undefined ? {} : { withheld }),
    };
  });
}

function freeId(taken: ReadonlySet<string>, index: number): string {
  const id = `call_${index}`;
  return taken.has(id) ? freeId(taken, index + callsPerAnswerMax) : id;
}
