import { listApiKeys } from '@countersign/contracts/gateway';
import { reachOf } from '../../api-keys/reach.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { listApiKeysOf } from '../../store/api-keys.ts';

export const listApiKeysRoute = (context: Context) =>
  handleWorkspace(listApiKeys)(({ query, caller }) => listApiKeysOf(context.database.reader, reachOf(caller), query));
