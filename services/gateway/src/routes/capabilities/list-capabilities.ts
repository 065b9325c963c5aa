import { listCapabilities, type Capability, type CapabilityState } from '@countersign/contracts/gateway';
import { handlePublic } from '@countersign/service-kit';
import { capabilitiesOf } from '../../capabilities/capabilities.ts';
import type { Context } from '../../context.ts';

export const listCapabilitiesRoute = ({ config }: Context) => {
  const capabilities = capabilitiesOf(config.evalRecord);
  const summary = { total: capabilities.length, byState: countedByState(capabilities) };
  return handlePublic(listCapabilities)(() => ({ summary, capabilities }));
};

function countedByState(capabilities: readonly Capability[]): Record<CapabilityState, number> {
  const count = (wanted: CapabilityState) => capabilities.filter(({ state }) => state === wanted).length;
  return {
    planned: count('planned'),
    prototype: count('prototype'),
    implemented: count('implemented'),
    blocked: count('blocked'),
    production_ready: count('production_ready'),
  };
}
