import { getAgentUiInfo, getAgUiInfo } from '@countersign/contracts/governance-kernel';
import { build } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { findInForce } from '../../store/policy-store.ts';

/** Serves the description at both of its addresses. */
const infoRoute =
  (route: typeof getAgentUiInfo) =>
  ({ reader, config }: Context) =>
    handleTenant(route)(async ({ caller: { tenant } }) => {
      const inForce = await findInForce(reader, tenant);
      return {
        runtime: 'countersign' as const,
        protocol: 'ag-ui' as const,
        transport: 'sse' as const,
        version: '1.0' as const,
        model: config.agentUiModel,
        policy: inForce === null ? null : { policy_hash: inForce.head.hash, epoch: inForce.head.epoch },
        capabilities: {
          identity: { name: 'Countersign', type: 'countersign', version: build.version },
          transport: { streaming: true, resumable: false },
          tools: { supported: true, parallelCalls: true, clientProvided: true },
          multimodal: { input: { image: true } },
          humanInTheLoop: { supported: true, approvals: true, interrupts: true },
        },
      };
    });

export const getAgentUiInfoRoute = infoRoute(getAgentUiInfo);
export const getAgUiInfoRoute = infoRoute(getAgUiInfo);
