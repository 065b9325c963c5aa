import { getSigningKey } from '@countersign/contracts/control-plane';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { getPublishedKeys } from '../../trust/trusted-keys.ts';

export const getSigningKeyRoute = (context: Context) =>
  handlePublic(getSigningKey)(async () => ({ keys: await getPublishedKeys(context) }));
