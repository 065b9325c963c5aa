import type { Connector } from '@countersign/contracts/control-plane';
import type { StoredInstall } from '../store/connector-installs.ts';
import type { CatalogueEntry } from './catalogue.ts';

/** An entry of the catalogue, and whether the workspace has installed it. */
export function connectorView(entry: CatalogueEntry, install: StoredInstall | null): Connector {
  const { connectorId, version, title, summary, url, serverJsonHash } = entry;
  const headers = entry.headers.map(({ name, description, isRequired, isSecret }) => {
    return { name, description: description ?? null, is_required: isRequired, is_secret: isSecret };
  });
  const shown = { connector_id: connectorId, version, title, summary, url, headers, server_json_hash: serverJsonHash };
  return { ...shown, install_id: install === null || install.disabledAt !== null ? null : install.id };
}
