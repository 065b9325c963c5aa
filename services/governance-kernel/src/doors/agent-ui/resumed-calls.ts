import { AppError } from '@countersign/contracts';
import type { RunAgentInput, WithheldCall } from '@countersign/contracts/governance-kernel';
import { proposedToolCall, type ProposedCall } from '../chat/proposed-call.ts';

type Resume = RunAgentInput['resume'][number];

/**
 * The calls that a run resumes, in the order of its `resume` entries. They are read from the metadata of an entry or
 * of the message that reported them. The caller may have changed them. An approval covers one exact call, so a changed
 * call requires a new approval. Throws INVALID_REQUEST for an entry whose call is in neither place.
 */
export function* resumedCalls({ resume, messages }: RunAgentInput): Generator<ProposedCall> {
  for (const [index, entry] of resume.entries()) {
    if (entry.status !== 'resolved') continue;
    const calls = withheldBy(entry, messages);
    if (calls.length === 0) throw unknownInterrupt(index);
    for (const { tool, tool_call_id: id, arguments: text } of calls)
      yield proposedToolCall({ id, type: 'function', function: { name: tool, arguments: text } });
  }
}

export function resumes({ resume }: RunAgentInput): boolean {
  return resume.some(({ status }) => status === 'resolved');
}

/** A run that was resumed too early reports its calls again. The last report counts. */
function withheldBy({ interruptId, metadata }: Resume, messages: RunAgentInput['messages']): WithheldCall[] {
  const reports = [metadata, ...messages.map((message) => message.metadata).toReversed()];
  for (const report of reports) {
    const withheld = report?.countersign?.withheld ?? [];
    const named = withheld.filter(({ approval_id: id }) => id === interruptId);
    if (named.length > 0) return named;
  }
  return [];
}

function unknownInterrupt(index: number): AppError {
  const message =
    'Neither the messages nor this entry hold the call of this interrupt. Send the messages with their metadata, or the metadata of the interrupt in the entry';
  return new AppError('INVALID_REQUEST', message, { param: `resume.${index}.interruptId` });
}
