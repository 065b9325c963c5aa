import type { Context } from '../context.ts';
import type { AgentCaller, ConsoleCaller, WorkspaceCaller } from '../guards.ts';

type Watched = WorkspaceCaller | AgentCaller | ConsoleCaller;

/**
 * A signal that aborts when the session of the caller ends, so that its streams end too. It also aborts with `until`,
 * after which the session is not watched. Keys and tokens of the gateway are not watched.
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
