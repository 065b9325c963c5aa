import { listScimResourceTypes } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { handleScim } from '../../handle.ts';
import { resourceTypes } from '../../scim/discovery.ts';

export const listScimResourceTypesRoute = ({ config }: Pick<Context, 'config'>) =>
  handleScim(listScimResourceTypes)(async () => resourceTypes(config.scimBaseUrl));
