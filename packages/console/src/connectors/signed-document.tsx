import { useState } from 'react';
import { Loaded } from '../parts/loaded.tsx';
import { ShownJson } from '../parts/shown.tsx';
import { useWorkspaceQuery } from '../workspace/open-workspace.ts';
import { area, useMarketplace } from './use-marketplace.ts';

/** The server.json whose hash the catalogue states. It is read when the person opens it. */
export function SignedDocument({ connectorId }: { connectorId: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Signed server.json</summary>
      {isOpen && <Document connectorId={connectorId} />}
    </details>
  );
}

function Document({ connectorId }: { connectorId: string }) {
  const client = useMarketplace();
  const document = useWorkspaceQuery([area, 'document', connectorId], (_, signal) =>
    client.getConnector({ params: { connector_id: connectorId }, signal }),
  );
  return <Loaded query={document}>{({ server_json }) => <ShownJson value={server_json} label="server.json" />}</Loaded>;
}
