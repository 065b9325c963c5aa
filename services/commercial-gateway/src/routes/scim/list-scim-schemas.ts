import { listScimSchemas } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { handleScim } from '../../handle.ts';
import { schemas } from '../../scim/discovery.ts';

export const listScimSchemasRoute = ({ config }: Pick<Context, 'config'>) =>
  handleScim(listScimSchemas)(async () => schemas(config.scimBaseUrl));
