import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { mayDo } from '@countersign/contracts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { readName } from '../parts/typed-name.ts';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { useMarketplace, useReadAgain } from './use-marketplace.ts';

/** Disables a connector at once: its server is revoked, and its client credentials end. */
export function DisableConnector({ connectorId }: { connectorId: string }) {
  const { role } = useWorkspace();
  const client = useMarketplace();
  const readAgain = useReadAgain();
  const [isOpen, setOpen] = useState(false);
  const [reason, setReason] = useState('');
  if (!mayDo(role, 'stop.give')) return null;
  // The connectors are also read again after a failure, because the server may be revoked already.
  const disable = () =>
    client
      .disableConnector({ params: { connector_id: connectorId }, body: { reason: reason.trim() } })
      .finally(readAgain);
  const says = (
    <div className="stacked">
      <p>
        Every call of its tools is denied from the next one on, and its client credentials end. To use it again, install
        and approve it again.
      </p>
      <TextInput
        data-autofocus
        label="Reason"
        description="The audit log records it."
        value={reason}
        onChange={({ target }) => setReason(target.value)}
        maxLength={500}
        required
      />
    </div>
  );
  return (
    <>
      <Button color="red" variant="outline" onClick={() => setOpen(true)}>
        Disable connector
      </Button>
      <ConfirmDialog
        question={
          isOpen
            ? {
                ...{ title: `Disable ${readName(connectorId)}`, says, act: 'Disable connector' },
                ...{ isReady: reason.trim() !== '', run: disable },
              }
            : null
        }
        onClose={() => setOpen(false)}
      />
    </>
  );
}
