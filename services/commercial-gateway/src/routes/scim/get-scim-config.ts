import { getScimConfig } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { handleScim } from '../../handle.ts';
import { serviceProviderConfig } from '../../scim/discovery.ts';

export const getScimConfigRoute = ({ config }: Pick<Context, 'config'>) =>
  handleScim(getScimConfig)(async () => serviceProviderConfig(config.scimBaseUrl));
