import { z } from 'zod';
import { ModelReply } from '../runs/conversation.ts';
import { KernelError } from './kernel-error.ts';

const Completion = z.object({
  choices: z.array(z.object({ message: ModelReply.shape.message })).min(1),
  usage: z.object({ prompt_tokens: z.int().min(0), completion_tokens: z.int().min(0) }).nullish(),
});

/** The first choice of an OpenAI completion. Attacker-controlled; lone surrogates are replaced, because JSON has no way to hash them. */
export function modelReplyOf(body: unknown): ModelReply {
  const parsed = Completion.safeParse(body);
  const message = parsed.data?.choices[0]?.message;
  if (message === undefined) throw new KernelError('upstream', 'UPSTREAM_FAILED', 'The model answered no completion');
  const usage = parsed.data?.usage;
  return {
    message: {
      content: message.content?.toWellFormed() ?? null,
      tool_calls: (message.tool_calls ?? []).map((call) => ({
        id: call.id.toWellFormed(),
        function: { name: call.function.name.toWellFormed(), arguments: call.function.arguments.toWellFormed() },
      })),
    },
    usage: { input: usage?.prompt_tokens ?? 0, output: usage?.completion_tokens ?? 0 },
  };
}
