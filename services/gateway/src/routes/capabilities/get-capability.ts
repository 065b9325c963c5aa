import { getCapability } from '@countersign/contracts/gateway';
import { handlePublic } from '@countersign/service-kit';
import { capabilitiesOf } from '../../capabilities/capabilities.ts';
import type { Context } from '../../context.ts';
import { notFound } from '../../not-found.ts';

export const getCapabilityRoute = ({ config }: Context) => {
  const capabilities = capabilitiesOf(config.evalRecord);
  return handlePublic(getCapability)(({ params }) => {
    const capability = capabilities.find(({ key }) => key === params.key);
    if (capability === undefined) throw notFound();
    return capability;
  });
};
