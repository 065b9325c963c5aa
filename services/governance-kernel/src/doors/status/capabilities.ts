import type { Capability } from '@countersign/contracts/governance-kernel';
import { routesOf } from './surfaces.ts';

type Configured = { hasModel: boolean; hasServers: boolean; hasCollector: boolean };

const bindings = ['receipt_id', 'record_hash', 'policy_hash', 'tool_definition_hash'];

/** The capabilities of the kernel in its configuration, with the routes of its contract. */
export function capabilitiesOf({ hasModel, hasServers, hasCollector }: Configured): Capability[] {
  const native = (capability_id: string, isActive: boolean, ...prefixes: string[]): Capability => ({
    capability_id,
    status: isActive ? 'active' : 'not_configured',
    authority: 'native',
    public_routes: routesOf(prefixes),
    receipt_bindings: bindings,
  });
  const telemetry = native('telemetry-coexistence', hasCollector, '/api/v1/telemetry', '/api/v1/coexistence');
  return [
    native('decisions', true, '/api/v1/evaluate'),
    native('boundary-records', true, '/api/v1/boundary'),
    native('model-boundary', hasModel, '/v1/'),
    native('mcp-firewall', hasServers, '/mcp'),
    native('approvals', true, '/api/v1/approvals'),
    native('budgets', true, '/api/v1/budgets'),
    native('transparency-log', true, '/api/v1/log', '/api/v1/trust'),
    { ...telemetry, authority: 'none' },
  ];
}
