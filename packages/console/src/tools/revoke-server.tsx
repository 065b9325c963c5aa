import { Button, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { mayDo } from '@countersign/contracts';
import type { McpServerDetail } from '@countersign/contracts/governance-kernel';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { readName } from '../parts/typed-name.ts';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { useRegistry } from './use-registry.ts';

/**
 * Revokes a server of the workspace, and ends its open approval requests. Only the operator revokes servers of the
 * installation.
 */
export function RevokeServer({ server: { server_id, owner, state } }: { server: McpServerDetail }) {
  const { id, role } = useWorkspace();
  const registry = useRegistry();
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [reason, setReason] = useState('');
  if (owner === 'installation' || state === 'revoked' || !mayDo(role, 'stop.give')) return null;
  const revoke = () =>
    registry.disableMcpServer({ params: { server_id }, query: {}, body: { reason: reason.trim() } }).finally(
      // The tools are also read again after a failure, because the revocation may have been recorded before the
      // failure.
      () => queries.invalidateQueries({ queryKey: [id, 'tools'] }),
    );
  const says = (
    <div className="stacked">
      <p>
        Every call of its tools is denied from the next one on. Open requests for its approval end. Only an approval
        that is requested afterwards allows calls again.
      </p>
      <TextInput
        label="Reason"
        description="It is recorded with the revocation."
        value={reason}
        onChange={({ target }) => setReason(target.value)}
        maxLength={500}
        required
      />
    </div>
  );
  return (
    <div>
      <Button size="xs" color="red" variant="default" onClick={() => setOpen(true)}>
        Revoke server
      </Button>
      <ConfirmDialog
        question={
          isOpen
            ? {
                ...{ title: `Revoke ${readName(server_id)}`, says, act: 'Revoke server' },
                ...{ isReady: reason.trim() !== '', run: revoke },
              }
            : null
        }
        onClose={() => setOpen(false)}
      />
    </div>
  );
}
