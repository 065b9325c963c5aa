import { z } from 'zod';
import { ModelReply, type ToolCall } from '../runs/conversation.ts';
import { functionNameOf } from '../runs/tool-names.ts';
import { KernelError } from './kernel-error.ts';
import { wellFormed } from './well-formed.ts';

/** What the kernel decided about the calls in the answer, in the order in which the model made them. */
const Decision = z.object({
  tool: z.string().min(1).max(256),
  tool_call_id: z.string().nullable(),
  verdict: z.string(),
  decision_id: z.string(),
  receipt_id: z.string(),
  arguments: z.string().optional(),
});

const Message = ModelReply.shape.message.extend({
  countersign: z.object({ decisions: z.array(Decision).max(256) }).optional(),
});

const Completion = z.object({
  choices: z.array(z.object({ message: Message })).min(1),
  usage: z.object({ prompt_tokens: z.int().min(0), completion_tokens: z.int().min(0) }).nullish(),
});

/** The first choice of an OpenAI completion. Attacker-controlled; lone surrogates are replaced, because JSON has no way to hash them. */
export function modelReplyOf(body: unknown): ModelReply {
  const parsed = Completion.safeParse(body);
  const message = parsed.data?.choices[0]?.message;
  if (message === undefined) throw new KernelError('upstream', 'UPSTREAM_FAILED', 'The model answered no completion');
  const usage = parsed.data?.usage;
  return {
    message: { content: message.content ? wellFormed(message.content) : null, tool_calls: callsOf(message) },
    usage: { input: usage?.prompt_tokens ?? 0, output: usage?.completion_tokens ?? 0 },
  };
}

/** The released calls, with those that the kernel withheld put back in their places: the run parks or ends there. */
function callsOf(message: z.infer<typeof Message>): ToolCall[] {
  const released = message.tool_calls ?? [];
  const decisions = message.countersign?.decisions ?? [];
  const refused = decisions.filter((decision) => decision.verdict !== 'ALLOW');
  if (refused.length === 0) return released.map(wellFormedCall);
  return decisions.flatMap((decision, index) => {
    if (decision.verdict !== 'ALLOW') return [withheldCall(decision, index)];
    return released.filter((call) => call.id === decision.tool_call_id).map(wellFormedCall);
  });
}

function withheldCall(decision: z.infer<typeof Decision>, index: number): ToolCall {
  return wellFormedCall({
    id: decision.tool_call_id ?? `call_${index}`,
    function: { name: functionNameOf(decision.tool), arguments: decision.arguments ?? '{}' },
    withheld: { decisionId: decision.decision_id, receiptId: decision.receipt_id },
  });
}

function wellFormedCall({ id, function: called, withheld }: ToolCall): ToolCall {
  return {
    id: wellFormed(id),
    function: { name: wellFormed(called.name), arguments: wellFormed(called.arguments) },
    ...(withheld === undefined ? {} : { withheld }),
  };
}
