import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { mayDo } from '@countersign/contracts';
import type { EvidenceHandle } from '@countersign/contracts/control-plane';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { CopyText } from '../parts/copy-text.tsx';
import { Moment } from '../parts/moment.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { RevokeHandle } from './revoke-handle.tsx';
import { useHandles } from './use-handles.ts';

const daySeconds = 86_400;
const lifetimeDays = 30;

/**
 * Publishes proof of the receipt at an address that needs no account. The kernel decides first whether this is allowed.
 */
export function PublicLink({ receipt: { payload } }: { receipt: StoredReceipt }) {
  const { id, role } = useWorkspace();
  const handles = useHandles();
  const queries = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  const [made, setMade] = useState<EvidenceHandle | null>(null);
  if (!mayDo(role, 'evidence.publish')) return null;
  const publish = async () => {
    const body = { object_id: payload.receipt_id, public: true, expires_in_seconds: lifetimeDays * daySeconds };
    setMade((await handles.createEvidenceHandle({ body })).body);
    void queries.invalidateQueries({ queryKey: [id, 'handles'] });
  };
  const question = {
    title: 'Publish a proof',
    says: `Anyone with the link can see this decision for ${lifetimeDays} days: verdict, reason, time to the minute and hashes. Arguments and names stay private. You can revoke the link.`,
    act: 'Publish proof',
    typed: 'publish',
    run: publish,
  };
  return (
    <section aria-label="Public proof">
      <h2>Public proof</h2>
      {made === null ? (
        <Button size="xs" variant="default" onClick={() => setAsked(true)}>
          Publish a proof
        </Button>
      ) : (
        <Made handle={made} onRevoked={() => setMade(null)} />
      )}
      <ConfirmDialog question={isAsked ? question : null} onClose={() => setAsked(false)} />
    </section>
  );
}

function Made({ handle, onRevoked }: { handle: EvidenceHandle; onRevoked: () => void }) {
  const { url, expires_at } = handle;
  return (
    <div className="note note-good" role="status">
      <p>
        Open until <Moment at={expires_at} />. <Link to="/settings">Settings</Link> list it until then.
      </p>
      <p>
        <CopyText text={url ?? handle.handle} whole />
      </p>
      <RevokeHandle handle={handle.handle} onRevoked={onRevoked} />
    </div>
  );
}
