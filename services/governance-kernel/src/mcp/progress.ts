import type { Progress } from '@modelcontextprotocol/client';
import type { ServerContext } from '@modelcontextprotocol/server';

type Relay = (progress: Progress) => void;

/** Three a second for as long as a call may take by default: more keeps a caller busy, and tells nobody anything. */
const notificationsMax = 200;
/** A line for a progress bar. */
const messageLengthMax = 1_000;

/** Tells the sender of a message of the progress of its call, under the token that it chose; undefined when it chose none. */
export function relayTo({ _meta, notify }: ServerContext['mcpReq']): Relay | undefined {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return (progress) => {
    // Whoever went away hears no progress; the call goes on to its end.
    notify({ method: 'notifications/progress', params: { ...progress, progressToken } }).catch(() => undefined);
  };
}

/** Passes on so many notifications and no more, and of each the members that the protocol knows, its text cut to a line. */
export function boundedProgress(relay: Relay): Relay {
  let told = 0;
  return ({ progress, total, message }) => {
    told += 1;
    if (told > notificationsMax) return;
    relay({
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message: message.slice(0, messageLengthMax) }),
    });
  };
}
