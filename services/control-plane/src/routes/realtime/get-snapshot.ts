import { getSnapshot } from '@countersign/contracts/control-plane';
import { prepared } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { snapshotOf } from '../../realtime/snapshot.ts';
import { hashOf } from '../../sessions/tokens.ts';

export const getSnapshotRoute = (context: Context) =>
  handleWorkspace(getSnapshot)(async ({ caller, req }) => {
    const snapshot = await snapshotOf(context, caller);
    const tag = `"${hashOf(JSON.stringify(snapshot))}"`;
    // A browser with a cached copy revalidates it each time.
    const headers = { etag: tag, 'cache-control': 'private, no-cache' };
    if (req.headers['if-none-match'] === tag) return prepared(304, '', headers);
    return prepared(200, JSON.stringify(snapshot), headers);
  });
