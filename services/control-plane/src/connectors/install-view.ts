import { instantOrNull, instantOf } from '@countersign/contracts';
import type { ConnectorInstall } from '@countersign/contracts/control-plane';
import type { McpServerTool } from '@countersign/contracts/governance-kernel';
import type { StoredInstall } from '../store/connector-installs.ts';
import { isConnector, type KnownServer } from './known-server.ts';

/** An install with the state of its server at the kernel. */
export function installView(install: StoredInstall, server: KnownServer | null): ConnectorInstall {
  const own = server !== null && isConnector(server) ? server : null;
  return {
    install_id: install.id,
    connector_id: install.connectorId,
    version: install.version,
    server_json_hash: install.serverJsonHash,
    state: own?.state ?? 'unregistered',
    definitions_hash: own?.definitions_hash ?? null,
    approval_request: own?.approval_request ?? null,
    drift: (own?.tools ?? []).map(driftOf),
    installed_by: install.installedBy,
    installed_at: instantOf(install.installedAt),
    disabled_by: install.disabledBy,
    disabled_at: instantOrNull(install.disabledAt),
  };
}

const statuses = { in_sync: 'in_sync', drifted: 'drifted', unpinned: 'unknown', missing: 'unknown' } as const;

function driftOf({ name, pin, pinned_hash, observed_hash, diff }: McpServerTool): ConnectorInstall['drift'][number] {
  return { name, expected_hash: pinned_hash, observed_hash, status: statuses[pin], diff };
}
