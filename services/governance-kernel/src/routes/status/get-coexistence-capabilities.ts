import { instantOf } from '@countersign/contracts';
import { getCoexistenceCapabilities } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';

/** The configured capabilities, from which an external system learns what it may send and receive. */
export const getCoexistenceCapabilitiesRoute = ({ config, clock }: Pick<Context, 'config' | 'clock'>) =>
  handleTenant(getCoexistenceCapabilities)(() => ({
    manifest_id: 'countersign-coexistence',
    authority: 'native-receipts',
    boundary_role: 'decides, seals and dispatches; what other systems record stays beside its receipts',
    supported_inputs: [
      'evaluate',
      'mcp',
      ...(config.upstream.url === null ? [] : ['openai-compatible-proxy']),
      ...(config.assertionKeys.length === 0 ? [] : ['gateway-assertion']),
    ],
    export_surfaces: [
      'chain-export',
      'period-export',
      'transparency-log',
      ...(config.collector === null ? [] : ['otel-genai']),
    ],
    receipt_bindings: ['receipt_id', 'record_hash', 'policy_hash', 'tool_definition_hash'],
    generated_at: instantOf(clock()),
  }));
