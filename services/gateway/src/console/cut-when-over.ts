import type { Context } from '../context.ts';
import type { AgentCaller, ConsoleCaller, WorkspaceCaller } from '../guards.ts';

type Watched = WorkspaceCaller | AgentCaller | ConsoleCaller;

/**
 * Aborted when the session is over by which a caller comes: what streams to them ends with it. Also aborted with `until`, behind which
 * nothing is watched. Keys and tokens of the gateway's own are not watched.
 */
export function cutWhenOver(
  { sessionWatch }: Pick<Context, 'sessionWatch'>,
  caller: Watched,
  until: AbortSignal,
): AbortSignal {
  const sessionId = sessionOf(caller);
  if (sessionId === null || sessionWatch === null) return until;
  return AbortSignal.any([until, sessionWatch.untilOver(sessionId, until)]);
}

function sessionOf(caller: Watched) {
  if ('console' in caller) return caller.console.sessionId;
  return 'device' in caller ? caller.device.sessionId : null;
}
