import { z } from 'zod';

/** A form that people fill in has less text. The answer must fit into one notice of PostgreSQL, encrypted. */
const answerBytesMax = 4_096;

const Value = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);
/** The result of `elicitation/create`. Metadata of the client is dropped. */
const Answer = z.strictObject({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), Value).optional(),
});

const answered = z.strictObject({ kind: z.literal('answered'), answer: Answer });
const failed = z.strictObject({ kind: z.literal('failed'), problem: z.string().max(200) });
/** How a question ended. */
export const Outcome = z.discriminatedUnion('kind', [answered, failed]);
export type Outcome = z.infer<typeof Outcome>;

const Result = Answer.extend({ content: Answer.shape.content.nullable(), _meta: z.looseObject({}).optional() });
const Response = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
});

export type ClientResponse = z.infer<typeof Response>;

/** The JSON-RPC response in the body of a request. `null` for any other message. */
export function responseIn(body: unknown): ClientResponse | null {
  const { data } = Response.safeParse(body);
  return data !== undefined && (data.result === undefined) !== (data.error === undefined) ? data : null;
}

/** The response is attacker-controlled. Its size is limited before its members are checked. */
export function outcomeOf({ result, error }: ClientResponse): Outcome {
  if (error !== undefined) return ended('The client refused the question of the server.');
  if (Buffer.byteLength(JSON.stringify(result)) > answerBytesMax)
    return ended(`The answer of the client has more than ${answerBytesMax} bytes.`);
  const { data } = Result.safeParse(result);
  if (data === undefined) return ended('The answer of the client is not a valid answer to the question.');
  const { action, content } = data;
  return { kind: 'answered', answer: { action, ...(content === undefined || content === null ? {} : { content }) } };
}

export function ended(problem: string): Outcome {
  return { kind: 'failed', problem };
}
