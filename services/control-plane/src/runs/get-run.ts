import { RunId } from '@countersign/contracts';
import { getRun, type Run } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { knownId } from '../siblings/known-id.ts';

/** A run of the caller's workspace. Throws NOT_FOUND, GATEWAY_UNAVAILABLE. */
export async function getRunOf(
  { gateway }: Pick<Context, 'gateway'>,
  text: string,
  { delegation, workspaceId }: WorkspaceCaller,
): Promise<Run> {
  const runId = knownId(RunId, text);
  const asPerson = gateway.as(delegation, { getRun });
  return answerOf('gateway', () => asPerson.getRun({ params: { runId }, query: { workspaceId } }));
}
