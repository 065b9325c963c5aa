import { Button, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { isAppError } from '@countersign/contracts';
import type { ConnectorInstall } from '@countersign/contracts/control-plane';
import { Moment } from '../parts/moment.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useMarketplace, useReadAgain } from './use-marketplace.ts';

type Props = { install: ConnectorInstall; hash: NonNullable<ConnectorInstall['definitions_hash']> };

/** The approval of exactly the scanned tools. If another person or a passkey must vote, the inbox has the request. */
export function ApproveInstall({ install, hash }: Props) {
  const { install_id, approval_request: request } = install;
  if (request?.state === 'pending')
    return (
      <p className="note note-wait">
        Approval requested. <Link to={`/inbox/${encodeURIComponent(request.approval_id)}`}>Decide it in the inbox</Link>
        : it covers exactly the tools below, until <Moment at={request.expires_at} />.
      </p>
    );
  if (request?.state === 'approved')
    return (
      <p className="note" role="status">
        Approved. The kernel lists the tools once more, and pins them if they are the same.
      </p>
    );
  return <Approve installId={install_id} hash={hash} />;
}

function Approve({ installId, hash }: { installId: string; hash: Props['hash'] }) {
  const client = useMarketplace();
  const readAgain = useReadAgain();
  const [reason, setReason] = useState('');
  const approve = useMutation({
    mutationFn: () =>
      client.approveInstall({
        params: { install_id: installId },
        body: { definitions_hash: hash, reason: reason.trim() },
      }),
    // The install is also read again after a refusal: it then has a request in the inbox, or other tools.
    onSettled: readAgain,
  });
  const send = (event: FormEvent) => {
    event.preventDefault();
    approve.mutate();
  };
  return (
    <form className="stacked narrow" onSubmit={send}>
      <TextInput
        label="Why should agents use this connector?"
        description="Approvers and the audit log see it, next to the hash of exactly these tools."
        value={reason}
        onChange={({ target }) => setReason(target.value)}
        maxLength={500}
        required
        withAsterisk={false}
      />
      {approve.error !== null && !isRequested(approve.error) && <ProblemNote error={approve.error} />}
      <div>
        <Button type="submit" loading={approve.isPending} disabled={reason.trim() === ''}>
          Approve connector
        </Button>
      </div>
    </form>
  );
}

/** The request is shown once the install is read again. */
function isRequested(error: unknown): boolean {
  return isAppError(error) && error.code === 'APPROVAL_NEEDED';
}
