import type { IncomingMessage } from 'node:http';
import { tailReceipts } from '@countersign/contracts/governance-kernel';
import { openEventStream, takenOver, type StreamEvent } from '@countersign/service-kit';
import type { CryptoProvider } from '@countersign/crypto';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { cursorOf, parseCursor, type CursorScope } from '../../evidence/receipts/cursor.ts';
import { followReceipts, type StreamPlace, type TailItem } from '../../evidence/tail/follow-receipts.ts';

/** Without a place to resume from, the stream begins with what is sealed after it was opened. */
export const tailReceiptsRoute = ({ logWatch, provider }: Context) =>
  handleTenant(tailReceipts)(async ({ query, caller: { tenant }, req, res, signal }): Promise<typeof takenOver> => {
    const cursors = { list: 'tail', tenant };
    const resumed = placeToResume(provider, cursors, { lastEventId: lastEventId(req), since: query.since });
    const feed = await logWatch.open(tenant);
    try {
      const stream = openEventStream({ res, signal });
      const scope = { tenant, session: query.session_id, agent: query.agent };
      const start = resumed ?? { next: feed.opened.size, checkpointed: feed.opened.checkpointed };
      for await (const item of followReceipts(logWatch, feed, { scope, start, signal: stream.ended })) {
        if (!(await stream.send(eventOf(item, (place) => cursorOf(provider, cursors, place))))) break;
      }
      stream.close();
    } finally {
      feed.release();
    }
    return takenOver;
  });

/**
 * The place that a client sends automatically when it reconnects. It is newer than the `since` of its first request.
 */
function lastEventId(req: IncomingMessage): string | undefined {
  const header = req.headers['last-event-id'];
  return header === undefined || header === '' ? undefined : String(header);
}

function placeToResume(
  provider: CryptoProvider,
  scope: CursorScope,
  { lastEventId: last, since }: { lastEventId: string | undefined; since: string | undefined },
): StreamPlace | null {
  const cursor = last ?? since;
  if (cursor === undefined) return null;
  const param = last === undefined ? 'since' : 'Last-Event-ID';
  const [next = 0, checkpointed = 0] = parseCursor(provider, scope, { cursor, param });
  return { next, checkpointed };
}

function eventOf(item: TailItem, cursor: (place: number[]) => string): StreamEvent {
  switch (item.kind) {
    case 'receipt':
      return { event: 'receipt', id: cursor(numbersOf(item.place)), data: item.receipt };
    case 'checkpoint':
      return { event: 'checkpoint', id: cursor(numbersOf(item.place)), data: item.checkpoint };
    case 'fault':
      return { event: 'error', data: { code: item.code } };
  }
}

function numbersOf({ next, checkpointed }: StreamPlace): number[] {
  return [next, checkpointed];
}
